package io.dyber.zernel.serve.live;

import static io.dyber.zernel.serve.source.EventBatch.NULL;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.serve.alert.Readings;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.analysis.Inferred;
import io.dyber.zernel.serve.analysis.Phase;
import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.Facts;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.ObjDoubleConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What is known now: applies batches of events, and what the analyzer infers from them, to the series of [Metrics].
///
/// Thread-safe: one thread applies, others read; each holds the lock for a batch or a reading.
public final class LiveMetrics {
    /// A sample that nobody renews is no longer shown: its process has ended, or its device.
    private static final long SAMPLE_LIFE_NANOS = 300_000_000_000L;

    private static final long SECOND_NANOS = 1_000_000_000L;
    /// Of a longer one the seconds before are left out.
    private static final long LONGEST_SILENCE_NANOS = 3600 * SECOND_NANOS;
    /// Processes whose names are known: those that did something last.
    private static final int NAMES = 10_000;

    private final SeriesPolicy policy;
    private final SeriesTable series;
    private final PidLabels pids;
    private final Workers workers;
    private final EventLabels labels;
    private final Inferences inferences;
    private final Inferences.Reader inferred;
    private final StepHistory history = new StepHistory();
    private final LiveMemory gpuMemory = new LiveMemory();
    private final LiveMemory torchMemory = new LiveMemory();
    private final Map<Long, String> comms = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
            return size() > NAMES;
        }
    };
    private final Map<@Nullable String, Map<@Nullable String, List<Metric>>> routes = new HashMap<>();
    private long updatedMillis;
    private OptionalDouble overhead = OptionalDouble.empty();
    private final DetailTime detail = new DetailTime();
    private final Who who = new Who();
    private final Watcher watcher;
    private final Instant since = Instant.now();
    private long startNanos = NULL;
    private long nextSecondNanos;
    private long reachedNanos;
    private long lastEndNanos;
    private boolean betweenRecordings;

    /// Hears each second of event time, whatever the speed, so that what it finds does not depend on that; and the end of a
    /// recording that others follow.
    public interface Watcher {
        /// All events that began before `view.nowNanos()` are in.
        void second(View view);

        /// Adds its own series.
        default void export(SeriesTable series) {}
    }

    /// @param pidLimit processes with series of their own
    /// @param inferences what is inferred from the events
    public LiveMetrics(int pidLimit, Inferences inferences, Watcher watcher) {
        this(SeriesPolicy.of(pidLimit), inferences, watcher);
    }

    /// @param inferences what is inferred from the events
    public LiveMetrics(SeriesPolicy policy, Inferences inferences, Watcher watcher) {
        this.policy = policy;
        this.series = new SeriesTable(Metrics.ALL, policy.mostDurations());
        this.inferences = inferences;
        this.inferred = inferences.reader();
        this.watcher = watcher;
        this.pids = new PidLabels(policy.pidLimit(), series::fold);
        this.workers = new Workers(policy.workersApart(), this::adopt);
        this.labels = new EventLabels(pids, workers);
    }

    /// A consistent view for one reader, valid while the lock is held.
    ///
    /// @param nowNanos the event time at which windows end
    public record View(LiveMetrics live, SeriesTable series, StepHistory history, PidLabels pids, long nowNanos)
            implements Readings {
        @Override
        public void numbers(Metric metric, ObjDoubleConsumer<List<String>> to) {
            series.numbers(metric).forEach((labels, sum) -> to.accept(labels, sum.value));
        }

        @Override
        public void quantiles(Metric metric, double quantile, ObjDoubleConsumer<List<String>> to) {
            series.durations(metric).forEach(
                    (labels, durations) -> to.accept(labels, durations.seconds(Window.MINUTE, quantile, nowNanos)));
        }

        @Override
        public Map<String, String> labels(Metric metric, List<String> values) {
            Map<String, String> labels = metric.labelled(values);
            if (metric.isRanked()) {
                labels.put(Metric.RANK, rank(labels.getOrDefault("pid", "")));
            }
            labels.values().removeIf(String::isEmpty);
            return labels;
        }

        /// How the series are shown.
        public SeriesPolicy policy() {
            return live.policy;
        }

        /// The start of the first event.
        public long startNanos() {
            return live.startNanos;
        }

        /// When all counters were 0, by the clock of this machine.
        public Instant since() {
            return live.since;
        }

        /// The rank of the process with this label; empty where it has none, or is not known.
        public String rank(String pid) {
            return live.who.rank(pid);
        }

        public String comm(long pid) {
            return live.comms.getOrDefault(pid, "");
        }

        public LiveMemory gpuMemory() {
            return live.gpuMemory;
        }

        public long updatedMillis() {
            return live.updatedMillis;
        }
    }

    public synchronized void apply(EventBatch batch) {
        if (batch.rows() > 0 && batch.shiftNanos() != inferred.shiftNanos()) {
            inferred.readUntil(Long.MAX_VALUE, this::infer);
            inferred.startOver(batch.shiftNanos());
            detail.startOver(batch.shiftNanos());
        }
        if (batch.rows() > 0 && betweenRecordings) {
            betweenRecordings = false;
            detail.start(batch.number(LongColumn.TS_NS, 0));
        }
        for (int row = 0; row < batch.rows(); row++) {
            advance(batch.number(LongColumn.TS_NS, row));
            lastEndNanos = Math.max(lastEndNanos, endNanos(batch, row));
            route(batch, row);
            observe(batch, row);
        }
        if (batch.untilNanos() != NULL) {
            advance(batch.untilNanos());
        }
        if (batch.endsRecording()) {
            endRecording();
        }
        if (batch.rows() > 0) {
            updatedMillis = System.currentTimeMillis();
        }
    }

    /// Nobody says any more what runs and what it holds, and alerts about that are over. Counters stay.
    private void endRecording() {
        betweenRecordings = true;
        pids.exitAll(lastEndNanos);
        history.exitAll(lastEndNanos);
        gpuMemory.clear();
        torchMemory.clear();
        workers.clear();
        series.forgetSampledGauges();
        detail.end();
        if (startNanos != NULL) {
            derive(reachedNanos, false);
            watcher.second(view(reachedNanos));
        }
    }

    /// Event time has passed without events. It begins with the first of them, whatever a clock says before.
    public synchronized void moveTo(long nanos) {
        if (betweenRecordings) {
            inferred.readUntil(Long.MAX_VALUE, this::infer);
        } else if (startNanos != NULL) {
            advance(nanos);
        }
    }

    private void advance(long nanos) {
        if (startNanos == NULL) {
            startNanos = nanos;
            nextSecondNanos = nanos + SECOND_NANOS;
            detail.start(nanos);
        }
        reachedNanos = Math.max(reachedNanos, nanos);
        nextSecondNanos = Math.max(nextSecondNanos, nanos - LONGEST_SILENCE_NANOS);
        while (nextSecondNanos <= nanos) {
            inferred.readUntil(nextSecondNanos, this::infer);
            derive(nextSecondNanos, false);
            watcher.second(view(nextSecondNanos));
            nextSecondNanos += SECOND_NANOS;
        }
        inferred.readUntil(nanos, this::infer);
    }

    /// How much event time the events began in.
    public synchronized double secondsSeen() {
        return startNanos == NULL ? 0 : (nextSecondNanos - SECOND_NANOS - startNanos) / 1e9;
    }

    /// What recording cost, as a share of one CPU.
    public synchronized void overhead(OptionalDouble share) {
        overhead = share;
    }

    /// Whom to ask each second in which windows launches and the like were recorded so far; empty where that is all time.
    public synchronized void detail(Supplier<Optional<Footer.Detail>> windows) {
        detail.source(windows);
    }

    /// Whom to ask each second what is known of the processes and devices that the events are about.
    public synchronized void facts(Supplier<Facts> source) {
        who.source(source);
        refreshFacts();
    }

    private void refreshFacts() {
        if (who.refresh(pids.chosen())) {
            workers.said(who.facts().processes());
        }
    }

    private void adopt(long worker, long owner) {
        if (pids.drop(worker)) {
            series.foldCounts(Long.toString(worker), pids.label(owner));
        }
    }

    /// No more events will come: what was inferred of the end holds.
    public synchronized void finish() {
        inferred.readUntil(Long.MAX_VALUE, this::infer);
    }

    /// Lets `reader` look at everything while nothing changes.
    public synchronized void read(long nowNanos, boolean ended, Consumer<View> reader) {
        derive(nowNanos, ended);
        reader.accept(view(nowNanos));
    }

    private View view(long nowNanos) {
        return new View(this, series, history, pids, nowNanos);
    }

    private void route(EventBatch batch, int row) {
        String kind = batch.text(TextColumn.KIND, row);
        String name = batch.text(TextColumn.NAME, row);
        Map<@Nullable String, List<Metric>> byName = routes.computeIfAbsent(kind, _ -> new HashMap<>());
        List<Metric> metrics = byName.get(name);
        if (metrics == null) {
            metrics = Metrics.ALL.stream()
                    .filter(metric -> metric.feed() != null && metric.feed().accepts(kind, name))
                    .toList();
            if (byName.size() < 10_000) {
                byName.put(name, metrics);
            }
        }
        // A call of the runtime makes one of the driver, and both are rows.
        boolean outermost = batch.number(LongColumn.DEPTH, row, 0) == 0;
        for (Metric metric : metrics) {
            Metric.Feed feed = Objects.requireNonNull(metric.feed());
            if (outermost || feed.kind().equals("*")) {
                feed(metric, feed, batch, row);
            }
        }
    }

    private void feed(Metric metric, Metric.Feed feed, EventBatch batch, int row) {
        long value = switch (feed.amount()) {
            case ONE -> 1;
            case CALLS -> batch.number(LongColumn.COUNT, row, 1);
            case DURATION -> batch.number(LongColumn.DUR_NS, row);
            case CALL_DURATION -> batch.number(LongColumn.COUNT, row) == NULL
                    ? batch.number(LongColumn.DUR_NS, row)
                    : NULL;
            case BYTES -> batch.number(LongColumn.BYTES, row);
            case COUNT -> batch.number(LongColumn.COUNT, row);
            case VALUE -> batch.number(LongColumn.VALUE, row);
        };
        if (value == NULL) {
            return;
        }
        List<String> values = labels.of(metric, batch, row);
        if (metric.type() == Metric.Type.SUMMARY) {
            // A replay hands out a call when it begins: a window that moved to its end would have nothing else.
            series.durations(metric, values).record(value, Math.min(endNanos(batch, row), reachedNanos));
        } else if (metric.isSampled()) {
            if (metric.isRanked() && values.contains(SeriesTable.OTHER)) {
                return;
            }
            SeriesTable.Sum sample = series.number(metric, values);
            if (metric.type() == Metric.Type.COUNTER) {
                sample.count(value * feed.scale(), batch.shiftNanos());
            } else {
                sample.value = value * feed.scale();
            }
            sample.sampledNanos = batch.number(LongColumn.TS_NS, row);
        } else {
            series.number(metric, values).value += value * feed.scale();
        }
    }

    private void observe(EventBatch batch, int row) {
        long pid = batch.number(LongColumn.PID, row);
        String comm = batch.text(TextColumn.COMM, row);
        if (comm != null && pid == batch.number(LongColumn.TID, row)) {
            comms.put(pid, comm);
            workers.named(pid, comm);
        }
        switch (batch.text(TextColumn.KIND, row)) {
            case "gpu_alloc" -> gpuMemory.allocate(batch, row);
            case "gpu_free" -> gpuMemory.free(batch, row);
            case "torch_alloc" -> torchMemory.allocate(batch, row);
            case "torch_free" -> torchMemory.free(batch, row);
            case "process" -> observeProcess(batch, row);
            case null, default -> {}
        }
        pids.runs(pid, batch.number(LongColumn.TS_NS, row));
    }

    private void observeProcess(EventBatch batch, int row) {
        long pid = batch.number(LongColumn.PID, row);
        if ("fork".equals(batch.text(TextColumn.NAME, row))) {
            workers.forked(pid, batch.number(LongColumn.CHILD_PID, row));
        } else if ("exit".equals(batch.text(TextColumn.NAME, row))) {
            // Of a process, whichever of its threads ended last.
            long nanos = batch.number(LongColumn.TS_NS, row);
            workers.exit(pid);
            pids.exit(pid, nanos);
            gpuMemory.exit(pid);
            torchMemory.exit(pid);
            history.exit(pid, nanos);
        }
    }

    private void infer(Inferred what) {
        long at = what.atNanos() + inferred.shiftNanos();
        switch (what) {
            case Inferred.Step step -> step(step, at);
            case Inferred.Late late ->
                series.durations(Metrics.NCCL_LATE, List.of(pids.label(late.pid()))).record(late.lateNanos(), at);
            case Inferred.Skew skew ->
                series.durations(Metrics.NCCL_SKEW, List.of(EventLabels.operation(skew.function())))
                        .record(skew.skewNanos(), at);
        }
    }

    private void step(Inferred.Step step, long endNanos) {
        String label = pids.label(step.pid());
        series.number(Metrics.STEPS, List.of(label)).value++;
        series.durations(Metrics.STEP, List.of(label)).record(step.endNanos() - step.startNanos(), endNanos);
        Map<Phase, Long> phaseNanos = step.phaseNanos();
        phaseNanos.forEach((phase, nanos) ->
                series.number(Metrics.PHASE_SECONDS, List.of(label, phase.label())).value += nanos / 1e9);
        history.add(step.pid(), endNanos, phaseNanos);
    }

    /// Brings the series that no event feeds up to date.
    private void derive(long nowNanos, boolean ended) {
        series.number(Metrics.SOURCE_TIME, List.of()).value = nowNanos / 1e9;
        series.number(Metrics.SOURCE_ENDED, List.of()).value = ended ? 1 : 0;
        series.number(Metrics.PIDS_FOLDED, List.of()).value = pids.folded();
        overhead.ifPresent(share -> series.number(Metrics.OVERHEAD, List.of()).value = share);
        series.number(Metrics.DETAIL_SECONDS, List.of()).value = detail.secondsUntil(nowNanos);
        series.forgetSamplesBefore(nowNanos - SAMPLE_LIFE_NANOS);
        deriveMemory();
        deriveSteps(nowNanos, ended);
        refreshFacts();
        InfoSeries.derive(series, who, pids.chosen(), pid -> comms.getOrDefault(pid, ""));
        watcher.export(series);
    }

    private void deriveMemory() {
        gpuMemory.forgetEndedExcept(pids.chosen());
        torchMemory.forgetEndedExcept(pids.chosen());
        series.numbers(Metrics.GPU_MEMORY_RATIO).clear();
        series.numbers(Metrics.GPU_DEVICE_MEMORY).forEach((labels, used) -> {
            SeriesTable.Sum capacity = series.numbers(Metrics.GPU_MEMORY_CAPACITY).get(labels);
            if (capacity != null && capacity.value > 0) {
                series.number(Metrics.GPU_MEMORY_RATIO, labels).value = used.value / capacity.value;
            }
        });
        derive(gpuMemory, Metrics.GPU_MEMORY_USED, Metrics.GPU_MEMORY_PEAK);
        if (detail.isWhole("torch_alloc")) {
            derive(torchMemory, Metrics.TORCH_MEMORY_USED, Metrics.TORCH_MEMORY_PEAK);
        } else {
            series.numbers(Metrics.TORCH_MEMORY_USED).clear();
            series.numbers(Metrics.TORCH_MEMORY_PEAK).clear();
        }
        series.numbers(Metrics.TORCH_MEMORY_RESERVED).clear();
        gpuMemory.forEach((place, use) -> {
            if (torchMemory.knows(place.pid())) {
                series.number(Metrics.TORCH_MEMORY_RESERVED, labelsOf(place)).value += use.bytes();
            }
        });
    }

    private void deriveSteps(long nowNanos, boolean ended) {
        series.numbers(Metrics.STEP_AGE).clear();
        // A step that has ended since the last look is not known yet.
        long knownNanos = Math.min(nowNanos, inferences.knownUntilNanos());
        history.forEachLast((pid, lastNanos) -> {
            String label = pids.labelOf(pid);
            if (!ended && !label.equals(SeriesTable.OTHER)) {
                series.number(Metrics.STEP_AGE, List.of(label)).value = Math.max(0, knownNanos - lastNanos) / 1e9;
            }
        });
        series.numbers(Metrics.PHASE_RATIO).clear();
        history.forEachRecent(nowNanos, (pid, shares) -> {
            String label = pids.labelOf(pid);
            if (!label.equals(SeriesTable.OTHER)) {
                shares.forEach((phase, share) ->
                        series.number(Metrics.PHASE_RATIO, List.of(label, phase.label())).value = share);
            }
        });
    }

    private void derive(LiveMemory memory, Metric used, Metric peak) {
        series.numbers(used).clear();
        series.numbers(peak).clear();
        memory.forEach((place, use) -> {
            List<String> values = labelsOf(place);
            series.number(used, values).value += use.bytes();
            series.number(peak, values).value += use.peakBytes();
        });
    }

    private List<String> labelsOf(LiveMemory.Place place) {
        return List.of(pids.labelOf(workers.ownerOf(place.pid())), Long.toString(place.device()));
    }

    private static long endNanos(EventBatch batch, int row) {
        return batch.number(LongColumn.TS_NS, row) + batch.number(LongColumn.DUR_NS, row, 0);
    }
}
