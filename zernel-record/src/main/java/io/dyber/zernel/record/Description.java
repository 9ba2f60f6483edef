package io.dyber.zernel.record;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.FooterValues;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.probe.Origin;
import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.Probes;
import io.dyber.zernel.record.sink.RecordingFile.Border;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
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
    private final String id = UUID.randomUUID().toString();
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

    /// Where the recording stands: exactly while the decoder rests, as at a border; else about.
    ///
    /// @param number of the part that begins here
    /// @param ended whether nothing is recorded any more
    Standing standing(int number, Border border, boolean ended) {
        Map<String, Long> kinds = new HashMap<>();
        Probes.all().forEach(probe -> kinds.put(probe.kind(), events(probe.kind())));
        return new Standing(
                number,
                Clock.monotonicNanos() + clock.offsetNanos(),
                border,
                attachments.functions().counts(decoder.counts(), ended),
                kinds,
                kernel.filtered(),
                Map.copyOf(losses.byKind()),
                losses.ends(),
                ended);
    }

    /// The beginning.
    Standing start() {
        return Standing.first(started + clock.offsetNanos());
    }

    /// The footer of what was recorded between two moments.
    ///
    /// @param stop why the recording ended, empty while it goes on
    Map<String, String> values(Standing from, Standing to, String stop) {
        return values(from, to, stop, Optional.empty());
    }

    /// The same for a file that was written because something happened.
    Map<String, String> values(Standing from, Standing to, String stop, Optional<Triggers.Fired> why) {
        Map<String, Long> lost = to.lostSince(from);
        List<Footer.RingUse> rings = List.of(ring("vital", kernel.vital()), ring("bulk", kernel.bulk()));
        FooterValues footer = new FooterValues()
                .put(Footer.RECORDING, recording(from, to, stop, why))
                .put(Footer.SCHEMA, FooterFacts.schema(schema))
                .put(Footer.KINDS, kinds(from, to))
                .put(Footer.PROBES, attachments.functions().describe(from.functions(), to.functions()))
                .put(Footer.LOSSES, new Footer.Losses(rings, lost, sum(lost), to.ends() - from.ends()))
                .put(Footer.PROCESSES, targets.describe())
                .put(Footer.GPUS, gpus.describe());
        chapters.forEach((key, chapter) -> footer.put(key, chapter.get()));
        return footer.values();
    }

    private static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    private Footer.About recording(Standing from, Standing to, String stop, Optional<Triggers.Fired> why) {
        List<String> incomplete = incompleteBecause(from, to, stop);
        CommandLines lines = options.commandLines();
        boolean commanded = !options.command().isEmpty();
        boolean divided = !(options.division() instanceof Division.None);
        return new Footer.About(
                FooterFacts.machine(),
                false,
                ProcessHandle.current().pid(),
                lines.shown(options.command()),
                commanded ? lines.hidden(options.command()) : null,
                commanded ? lines.mark() : null,
                lines.options(options.words(), options.command()),
                attachments.backend(),
                from.nanos(),
                to.nanos(),
                stop.isEmpty() ? null : stop,
                why.map(fired -> new Footer.Trigger(fired.text(), fired.nanos())).orElse(null),
                incomplete.isEmpty(),
                incomplete,
                to.events(from),
                divided ? new Footer.Series(id, from.number(), started + clock.offsetNanos()) : null,
                null);
    }

    private static Footer.RingUse ring(String name, RingBuffer ring) {
        return new Footer.RingUse(name, ring.size(), ring.highWater());
    }

    private List<Footer.KindState> kinds(Standing from, Standing to) {
        List<Footer.KindState> kinds = new ArrayList<>();
        for (Probe probe : Probes.all()) {
            KindState state = state(probe);
            Map<String, Long> layers =
                    attachments.functions().layers(probe.kind(), from.functions(), to.functions());
            kinds.add(new Footer.KindState(
                    probe.kind(),
                    state.word(),
                    state.why(),
                    to.eventsSince(from, probe.kind()),
                    to.filteredSince(from, probe.kind()).orElse(null),
                    layers.get("driver"),
                    layers.get("runtime"),
                    layers.get("covered")));
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

    private KindState state(Probe probe) {
        boolean wanted = options.kinds().contains(probe.kind());
        return switch (probe.origin()) {
            case Origin.Kernel _ -> kernel.state(probe.kind());
            case Origin.Functions _ -> functionsState(probe);
            case Origin.Driver _ -> wanted ? gpuState() : KindState.LEFT_OUT;
            case Origin.Host _ -> wanted ? hostState() : KindState.LEFT_OUT;
            case Origin.Recorder _ -> KindState.attached(probe.kind().equals(MarkRows.KIND) ? marks.problem() : "");
        };
    }

    private KindState functionsState(Probe probe) {
        String kind = probe.kind();
        String refused = kernel.unavailable().get(kind);
        if (refused != null) {
            return KindState.unavailable(refused);
        }
        if (probe.isOptIn() && options.probes().stream().noneMatch(spec -> spec.kind().equals(kind))) {
            return KindState.off("no --probe given");
        }
        if (!probe.isOptIn() && !options.kinds().contains(kind)) {
            return KindState.LEFT_OUT;
        }
        if (attachments.functions().isAttached(kind)) {
            return KindState.attached("");
        }
        return attachments.functions()
                .problem(kind)
                .map(KindState::unavailable)
                .orElseGet(() -> KindState.waiting("no recorded process has loaded "
                        + (probe.library().isEmpty() ? "a library with these functions" : probe.library())));
    }

    private KindState hostState() {
        return options.hostInterval().isZero() ? KindState.off("--host-interval off") : KindState.attached("");
    }

    private KindState gpuState() {
        if (options.gpuInterval().isZero()) {
            return KindState.off("--gpu-interval off");
        }
        String unavailable = gpus.unavailable();
        if (!unavailable.isEmpty()) {
            return KindState.unavailable(unavailable);
        }
        return gpus.isSampling()
                ? KindState.attached("")
                : KindState.waiting("the NVIDIA driver has not answered yet");
    }

    /// Why the recording does not hold everything that was asked for; empty when it does.
    List<String> incompleteBecause(Standing from, Standing to, String stop) {
        List<String> reasons = new ArrayList<>();
        Map<String, Long> lost = to.lostSince(from);
        if (!lost.isEmpty()) {
            reasons.add(sum(lost) + " events found the ring full: " + lost);
        }
        if (to.ends() > from.ends()) {
            reasons.add(to.ends() - from.ends() + " events have no duration: their ends found the ring full");
        }
        if (decoder.counts().unknown() > 0) {
            reasons.add(decoder.counts().unknown() + " records could not be decoded");
        }
        kernel.unavailable().forEach((kind, why) -> reasons.add("kind '" + kind + "' is not there: " + why));
        reasons.addAll(kernel.missing());
        reasons.addAll(attachments.functions().problems());
        caveats.forEach(caveat -> reasons.addAll(caveat.get()));
        if (to.ended()) {
            reasons.addAll(Accounts.open(kernel, decoder.counts()));
        }
        if (stop.equals(Session.DISK_FULL)) {
            reasons.add("no space left on the disk");
        }
        return reasons;
    }
}
