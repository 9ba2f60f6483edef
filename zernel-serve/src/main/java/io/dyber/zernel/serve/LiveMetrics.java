package io.dyber.zernel.serve;

import static io.dyber.zernel.serve.source.EventBatch.NULL;

import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What is known now: applies batches of events to the series of [Metrics].
///
/// Thread-safe: one thread applies, others read; each holds the lock for a batch or a reading.
final class LiveMetrics {
    private final SeriesTable series = new SeriesTable(Metrics.ALL);
    private final PidLabels pids;
    private final EventLabels labels;
    private final Steps steps = new Steps(this::step);
    private final StepHistory history = new StepHistory();
    private final LiveMemory gpuMemory = new LiveMemory();
    private final LiveMemory torchMemory = new LiveMemory();
    private final Map<Long, String> comms = new HashMap<>();
    private final Map<@Nullable String, Map<@Nullable String, List<Metric>>> routes = new HashMap<>();
    private long updatedMillis;

    /// @param pidLimit processes with series of their own
    LiveMetrics(int pidLimit) {
        this.pids = new PidLabels(pidLimit, series::fold);
        this.labels = new EventLabels(pids);
    }

    /// A consistent view for one reader, valid while the lock is held.
    ///
    /// @param nowNanos the event time at which windows end
    record View(LiveMetrics live, SeriesTable series, StepHistory history, PidLabels pids, long nowNanos) {
        String comm(long pid) {
            return live.comms.getOrDefault(pid, "");
        }

        LiveMemory gpuMemory() {
            return live.gpuMemory;
        }

        long updatedMillis() {
            return live.updatedMillis;
        }
    }

    synchronized void apply(EventBatch batch) {
        for (int row = 0; row < batch.rows(); row++) {
            route(batch, row);
            observe(batch, row);
            steps.accept(batch, row);
        }
        if (batch.rows() > 0) {
            updatedMillis = System.currentTimeMillis();
        }
    }

    /// No more events will come.
    synchronized void finish() {
        steps.finish();
    }

    /// Lets `reader` look at everything while nothing changes.
    synchronized void read(long nowNanos, boolean ended, Consumer<View> reader) {
        derive(nowNanos, ended);
        reader.accept(new View(this, series, history, pids, nowNanos));
    }

    private void route(EventBatch batch, int row) {
        String kind = batch.text(TextColumn.KIND, row);
        String name = batch.text(TextColumn.NAME, row);
        Map<@Nullable String, List<Metric>> byName = routes.computeIfAbsent(kind, _ -> new HashMap<>());
        List<Metric> metrics = byName.get(name);
        if (metrics == null) {
            metrics = Metrics.ALL.stream().filter(metric -> isFed(metric, kind, name)).toList();
            if (byName.size() < 10_000) {
                byName.put(name, metrics);
            }
        }
        for (Metric metric : metrics) {
            feed(metric, batch, row);
        }
    }

    private static boolean isFed(Metric metric, @Nullable String kind, @Nullable String name) {
        Metric.Feed feed = metric.feed();
        return feed != null
                && (feed.kind().equals("*") || feed.kind().equals(kind))
                && feed.name().test(name);
    }

    private void feed(Metric metric, EventBatch batch, int row) {
        Metric.Amount amount = metric.feed() == null ? Metric.Amount.ONE : metric.feed().amount();
        long value = switch (amount) {
            case ONE -> 1;
            case DURATION -> batch.number(LongColumn.DUR_NS, row);
            case BYTES -> batch.number(LongColumn.BYTES, row);
            case COUNT -> batch.number(LongColumn.COUNT, row);
            case VALUE -> batch.number(LongColumn.VALUE, row);
        };
        if (value == NULL) {
            return;
        }
        List<String> values = labels.of(metric, batch, row);
        switch (metric.type()) {
            case SUMMARY -> series.durations(metric, values).record(value, endNanos(batch, row));
            case COUNTER -> series.number(metric, values).value += value;
            case GAUGE -> series.number(metric, values).value = value;
        }
    }

    private void observe(EventBatch batch, int row) {
        switch (batch.text(TextColumn.KIND, row)) {
            case "gpu_alloc" -> gpuMemory.allocate(batch, row);
            case "gpu_free" -> gpuMemory.free(batch, row);
            case "torch_alloc" -> torchMemory.allocate(batch, row);
            case "torch_free" -> torchMemory.free(batch, row);
            case "process" -> observeProcess(batch, row);
            case null, default -> {}
        }
        long pid = batch.number(LongColumn.PID, row);
        String comm = batch.text(TextColumn.COMM, row);
        if (comm != null && pid == batch.number(LongColumn.TID, row) && comms.size() < 10_000) {
            comms.put(pid, comm);
        }
    }

    private void observeProcess(EventBatch batch, int row) {
        long pid = batch.number(LongColumn.PID, row);
        if ("exit".equals(batch.text(TextColumn.NAME, row)) && pid == batch.number(LongColumn.TID, row)) {
            gpuMemory.exit(pid);
            torchMemory.exit(pid);
        }
    }

    private void step(long pid, long startNanos, long endNanos, Map<Phase, Long> phaseNanos) {
        String label = pids.label(pid);
        series.number(Metrics.STEPS, List.of(label)).value++;
        series.durations(Metrics.STEP, List.of(label)).record(endNanos - startNanos, endNanos);
        phaseNanos.forEach((phase, nanos) ->
                series.number(Metrics.PHASE_SECONDS, List.of(label, phase.label())).value += nanos / 1e9);
        history.add(pid, endNanos, phaseNanos);
    }

    /// Brings the series that no event feeds up to date.
    private void derive(long nowNanos, boolean ended) {
        series.number(Metrics.SOURCE_TIME, List.of()).value = nowNanos / 1e9;
        series.number(Metrics.SOURCE_ENDED, List.of()).value = ended ? 1 : 0;
        series.number(Metrics.PIDS_FOLDED, List.of()).value = pids.folded();
        derive(gpuMemory, Metrics.GPU_MEMORY_USED, Metrics.GPU_MEMORY_PEAK);
        derive(torchMemory, Metrics.TORCH_MEMORY_USED, Metrics.TORCH_MEMORY_PEAK);
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
            List<String> values = List.of(pids.labelOf(place.pid()), Long.toString(place.device()));
            series.number(used, values).value += use.bytes;
            series.number(peak, values).value += use.peakBytes;
        });
    }

    private static long endNanos(EventBatch batch, int row) {
        return batch.number(LongColumn.TS_NS, row) + batch.number(LongColumn.DUR_NS, row, 0);
    }
}
