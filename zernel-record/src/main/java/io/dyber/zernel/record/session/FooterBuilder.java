package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.FooterValues;
import io.dyber.zernel.record.attach.Attachments;
import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.KindState;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.option.CommandLines;
import io.dyber.zernel.record.option.OutputPolicy;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.recording.RecordingFile.CutPoint;
import io.dyber.zernel.record.schema.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/// What a recording says about itself: gathers the footer from everything that took part.
final class FooterBuilder {
    private final RecordOptions options;
    private final Schema schema;
    private final Clock clock;
    private final BpfPrograms kernel;
    private final Attachments attachments;
    private final LossAccounting losses;
    private final KindStates states;
    private final Decoder decoder;
    private final Map<String, Chapter> chapters = new LinkedHashMap<>();
    private final List<Supplier<List<String>>> caveats = new ArrayList<>();
    private final String id = UUID.randomUUID().toString();
    private final long started = Clock.monotonicNanos();

    FooterBuilder(
            RecordOptions options,
            Schema schema,
            Clock clock,
            BpfPrograms kernel,
            Attachments attachments,
            LossAccounting losses,
            KindStates states,
            Decoder decoder) {
        this.options = options;
        this.schema = schema;
        this.clock = clock;
        this.kernel = kernel;
        this.attachments = attachments;
        this.losses = losses;
        this.states = states;
        this.decoder = decoder;
    }

    /// What is said of the time between two moments, nanoseconds since the epoch.
    interface Chapter {
        Object between(long from, long to);
    }

    /// Adds a key to the footer, described again each time.
    void add(String key, Supplier<Object> chapter) {
        chapters.put(key, (_, _) -> chapter.get());
    }

    /// The same for what is different in each part of a recording.
    void add(String key, Chapter chapter) {
        chapters.put(key, chapter);
    }

    /// Adds reasons why the recording is not complete, asked for each time.
    void caveat(Supplier<List<String>> reasons) {
        caveats.add(reasons);
    }

    /// How far the recording is: exactly while the decoder rests, as where the file is cut; else about.
    ///
    /// @param number of the part that begins here
    /// @param ended whether nothing is recorded any more
    ProgressSnapshot snapshot(int number, CutPoint cutPoint, boolean ended) {
        Map<String, Long> kinds = new HashMap<>();
        Probes.all().forEach(probe -> kinds.put(probe.kind(), events(probe.kind())));
        return new ProgressSnapshot(
                number,
                Clock.monotonicNanos() + clock.offsetNanos(),
                cutPoint,
                attachments.functions().counts(decoder.counts(), ended),
                kinds,
                kernel.filtered(),
                Map.copyOf(losses.byKind()),
                losses.ends(),
                ended);
    }

    /// The beginning.
    ProgressSnapshot start() {
        return ProgressSnapshot.first(started + clock.offsetNanos());
    }

    /// The footer of what was recorded between two moments.
    ///
    /// @param stop why the recording ended, empty while it goes on
    Map<String, String> values(ProgressSnapshot from, ProgressSnapshot to, String stop) {
        return values(from, to, stop, Optional.empty());
    }

    /// The same for a file that was written because something happened.
    Map<String, String> values(ProgressSnapshot from, ProgressSnapshot to, String stop, Optional<Triggers.Fired> why) {
        Map<String, Long> lost = to.lostSince(from);
        List<Footer.RingUse> rings = List.of(ring("vital", kernel.vital()), ring("bulk", kernel.bulk()));
        FooterValues footer = new FooterValues()
                .put(Footer.RECORDING, recording(from, to, stop, why))
                .put(Footer.SCHEMA, FooterFacts.schema(schema))
                .put(Footer.KINDS, kinds(from, to))
                .put(Footer.PROBES, attachments.functions().describe(from.functions(), to.functions()))
                .put(Footer.LOSSES, new Footer.Losses(rings, lost, sum(lost), to.ends() - from.ends()));
        chapters.forEach((key, chapter) -> footer.put(key, chapter.between(from.nanos(), to.nanos())));
        return footer.values();
    }

    private static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    private Footer.About recording(ProgressSnapshot from, ProgressSnapshot to, String stop, Optional<Triggers.Fired> why) {
        List<String> incomplete = incompleteBecause(from, to, stop);
        CommandLines lines = options.commandLines();
        boolean commanded = !options.command().isEmpty();
        boolean divided = !(options.outputPolicy() instanceof OutputPolicy.None);
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

    private List<Footer.KindState> kinds(ProgressSnapshot from, ProgressSnapshot to) {
        List<Footer.KindState> kinds = new ArrayList<>();
        for (Probe probe : Probes.all()) {
            KindState state = states.of(probe);
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

    /// Why the recording does not hold everything that was asked for; empty when it does.
    List<String> incompleteBecause(ProgressSnapshot from, ProgressSnapshot to, String stop) {
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
        if (Session.isFailure(stop)) {
            reasons.add((stop.equals(Session.DISK_FULL) ? "no space left on the disk" : "an error of the recorder ended it")
                    + dropped(losses.dropped(decoder.counts()) + unwritten(from, to)));
        } else if (to.ended()) {
            reasons.addAll(losses.open(decoder.counts()));
        }
        return reasons;
    }

    /// Events that were taken and are not in the file: those of the write that failed.
    private static long unwritten(ProgressSnapshot from, ProgressSnapshot to) {
        long taken = Probes.all().stream().mapToLong(probe -> to.eventsSince(from, probe.kind())).sum();
        return Math.max(0, taken - to.events(from));
    }

    private static String dropped(long events) {
        return events == 0 ? "" : String.format(Locale.ROOT, ": %,d more events are not in the file", events);
    }
}
