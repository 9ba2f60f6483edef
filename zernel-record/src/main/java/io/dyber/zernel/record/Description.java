package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.Probes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// What a recording says about itself: gathers the footer from everything that took part.
final class Description {
    private final RecordOptions options;
    private final Schema schema;
    private final Clock clock;
    private final KernelSide kernel;
    private final Attachments attachments;
    private final Losses losses;
    private final TargetSet targets;
    private final GpuRows gpus;
    private final MarkRows marks;
    private final Decoder decoder;
    private final Map<String, Supplier<Object>> chapters = new LinkedHashMap<>();
    private final List<Supplier<List<String>>> caveats = new ArrayList<>();
    private final long started = Clock.monotonicNanos();

    Description(
            RecordOptions options,
            Schema schema,
            Clock clock,
            KernelSide kernel,
            Attachments attachments,
            Losses losses,
            TargetSet targets,
            GpuRows gpus,
            MarkRows marks,
            Decoder decoder) {
        this.options = options;
        this.schema = schema;
        this.clock = clock;
        this.kernel = kernel;
        this.attachments = attachments;
        this.losses = losses;
        this.targets = targets;
        this.gpus = gpus;
        this.marks = marks;
        this.decoder = decoder;
    }

    /// Has one more key in the footer, described anew each time.
    void add(String key, Supplier<Object> chapter) {
        chapters.put(key, chapter);
    }

    /// Has more reasons why the recording is not complete, asked for anew each time.
    void caveat(Supplier<List<String>> reasons) {
        caveats.add(reasons);
    }

    /// The footer as of now.
    ///
    /// @param stop why the recording ended, empty while it goes on
    Map<String, String> values(String stop, long events) {
        Map<String, Object> rings = new LinkedHashMap<>();
        rings.put("rings", List.of(ring("vital", kernel.vital()), ring("bulk", kernel.bulk())));
        rings.put("by_kind", losses.byKind());
        rings.put("total", losses.total());
        rings.put("ends", losses.ends());
        Footer footer = new Footer()
                .put("zernel.recording", recording(stop, events))
                .put("zernel.schema", Footer.schema(schema))
                .put("zernel.kinds", kinds())
                .put("zernel.probes", attachments.functions().describe(decoder.counts()))
                .put("zernel.losses", rings)
                .put("zernel.processes", targets.describe())
                .put("zernel.gpus", gpus.describe());
        chapters.forEach((key, chapter) -> footer.put(key, chapter.get()));
        return footer.values();
    }

    private Map<String, Object> recording(String stop, long events) {
        List<String> incomplete = incompleteBecause(stop);
        Map<String, Object> value = new LinkedHashMap<>(Footer.machine());
        value.put("simulated", false);
        value.put("command", options.command().isEmpty() ? null : options.command());
        value.put("options", options.words());
        value.put("backend", attachments.backend());
        value.put("started_ns", started + clock.offsetNanos());
        value.put("ended_ns", Clock.monotonicNanos() + clock.offsetNanos());
        value.put("stop", stop.isEmpty() ? null : stop);
        value.put("complete", incomplete.isEmpty());
        value.put("incomplete_because", incomplete);
        value.put("events", events);
        return value;
    }

    private static Map<String, Object> ring(String name, RingBuffer ring) {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("ring", name);
        value.put("size_bytes", ring.size());
        value.put("high_water_bytes", ring.highWater());
        return value;
    }

    private List<Map<String, Object>> kinds() {
        List<Map<String, Object>> kinds = new ArrayList<>();
        for (Probe probe : Probes.all()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("kind", probe.kind());
            KindState state = state(probe);
            row.put("state", state.state());
            row.put("why", state.why());
            row.put("events", events(probe.kind()));
            kinds.add(row);
        }
        return kinds;
    }

    private long events(String kind) {
        return decoder.counts().added(kind)
                + kernel.names().entrySet().stream()
                        .filter(function -> function.getValue().kind().equals(kind))
                        .mapToLong(function -> decoder.counts().events(function.getKey()))
                        .sum();
    }

    private record KindState(String state, String why) {}

    private KindState state(Probe probe) {
        String kind = probe.kind();
        String refused = kernel.unavailable().get(kind);
        if (refused != null) {
            return new KindState("unavailable", refused);
        }
        if (kind.equals("lost") || kind.equals("process")) {
            return new KindState("attached", "");
        }
        if (kind.equals("mark")) {
            return new KindState("attached", marks.problem());
        }
        boolean asked = probe.isOptIn()
                ? options.probes().stream().anyMatch(spec -> spec.kind().equals(kind))
                : options.kinds().contains(kind);
        if (!asked) {
            return new KindState("off", probe.isOptIn() ? "no --probe given" : "left out by --kinds");
        }
        if (GpuRows.KINDS.contains(kind)) {
            return gpuState();
        }
        if (!probe.object().isEmpty() || attachments.functions().isAttached(kind)) {
            return new KindState("attached", "");
        }
        return attachments.functions()
                .problem(kind)
                .map(why -> new KindState("unavailable", why))
                .orElseGet(() -> new KindState("waiting", "no recorded process has loaded "
                        + (probe.library().isEmpty() ? "a library with these functions" : probe.library())));
    }

    private KindState gpuState() {
        if (options.gpuInterval().isZero()) {
            return new KindState("off", "--gpu-interval off");
        }
        String unavailable = gpus.unavailable();
        if (!unavailable.isEmpty()) {
            return new KindState("unavailable", unavailable);
        }
        return gpus.isSampling()
                ? new KindState("attached", "")
                : new KindState("waiting", "the NVIDIA driver has not answered yet");
    }

    /// Why the recording does not hold everything that was asked for; empty when it does.
    List<String> incompleteBecause(String stop) {
        List<String> reasons = new ArrayList<>();
        if (losses.total() > 0) {
            reasons.add(losses.total() + " events found the ring full: " + losses.byKind());
        }
        if (losses.ends() > 0) {
            reasons.add(losses.ends() + " events have no duration: their ends found the ring full");
        }
        if (decoder.counts().unknown() > 0) {
            reasons.add(decoder.counts().unknown() + " records could not be decoded");
        }
        kernel.unavailable().forEach((kind, why) -> reasons.add("kind '" + kind + "' is not there: " + why));
        reasons.addAll(kernel.missing());
        reasons.addAll(attachments.functions().problems());
        caveats.forEach(caveat -> reasons.addAll(caveat.get()));
        if (!stop.isEmpty()) {
            reasons.addAll(Accounts.open(kernel, decoder.counts()));
        }
        if (stop.equals(Recorder.DISK_FULL)) {
            reasons.add("no space left on the disk");
        }
        return reasons;
    }
}
