package io.dyber.zernel.serve;

import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.analysis.Lateness;
import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.live.Durations;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.Playback;
import io.dyber.zernel.serve.source.SourceState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/// Builds [Snapshot]s and writes them as JSON.
final class Snapshots {
    private static final int VERSION = 1;
    private static final int PROCESSES = 128;
    private static final int TIMINGS = 200;

    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

    private Snapshots() {}

    /// What a snapshot says beside the metrics.
    ///
    /// @param replay null where there is nothing to control
    record Context(
            Duration interval,
            SourceState source,
            Playback.@Nullable Status replay,
            Findings findings,
            List<Snapshot.Raised> alerts) {}

    /// Writes a record in snake case.
    static String json(Record what) {
        return JSON.writeValueAsString(what);
    }

    static Snapshot of(LiveMetrics.View view, Context context) {
        Map<String, String> measured = new LinkedHashMap<>();
        Optional<Durations> launches = busiest(view, Metrics.CUDA_LAUNCH, "cuda_latency", measured);
        Optional<Durations> reduces = busiestAllReduce(view, measured);
        Optional<Durations> waits = busiest(view, Metrics.DATALOADER_WAIT, "dataloader_wait", measured);
        return new Snapshot(
                gpus(view),
                quantile(launches, 0.5, 1e6, view),
                quantile(launches, 0.99, 1e6, view),
                quantile(reduces, 0.5, 1e3, view),
                quantile(reduces, 0.99, 1e3, view),
                quantile(waits, 0.5, 1e3, view),
                view.updatedMillis(),
                new Snapshot.More(
                        VERSION,
                        context.interval().toMillis(),
                        context.source(),
                        context.replay(),
                        view.nowNanos() / 1e6,
                        measured,
                        sum(view, Metrics.EVENTS),
                        sum(view, Metrics.LOST),
                        processes(view),
                        view.series().numbers(Metrics.STEPS).size(),
                        timings(view),
                        devices(view),
                        context.findings(),
                        context.alerts(),
                        Charts.point(view)));
    }

    private static List<Snapshot.GpuUse> gpus(LiveMetrics.View view) {
        List<Snapshot.GpuUse> gpus = new ArrayList<>();
        view.gpuMemory().forEach((place, use) ->
                gpus.add(new Snapshot.GpuUse(place.pid() + ":" + place.device(), use.bytes(), use.peakBytes())));
        return gpus;
    }

    private static List<Snapshot.Device> devices(LiveMetrics.View view) {
        Set<List<String>> known = new LinkedHashSet<>();
        for (Metric sample : List.of(
                Metrics.GPU_UTILIZATION, Metrics.GPU_DEVICE_MEMORY, Metrics.GPU_MEMORY_CAPACITY, Metrics.GPU_SM_ACTIVE)) {
            known.addAll(view.series().numbers(sample).keySet());
        }
        return known.stream()
                .map(gpu -> new Snapshot.Device(
                        gpu.getFirst(),
                        sample(view, Metrics.GPU_UTILIZATION, gpu),
                        sample(view, Metrics.GPU_SM_ACTIVE, gpu),
                        sample(view, Metrics.GPU_TENSOR_ACTIVE, gpu),
                        sample(view, Metrics.GPU_DRAM_ACTIVE, gpu),
                        sample(view, Metrics.GPU_DEVICE_MEMORY, gpu),
                        sample(view, Metrics.GPU_MEMORY_CAPACITY, gpu),
                        sample(view, Metrics.GPU_POWER, gpu),
                        sample(view, Metrics.GPU_TEMPERATURE, gpu)))
                .toList();
    }

    private static @Nullable Double sample(LiveMetrics.View view, Metric metric, List<String> gpu) {
        SeriesTable.Sum sum = view.series().numbers(metric).get(gpu);
        return sum == null ? null : sum.value();
    }

    private static Optional<Durations> busiest(
            LiveMetrics.View view, Metric metric, String measure, Map<String, String> measured) {
        return view.series().busiest(metric).map(entry -> {
            measured.put(measure, "pid " + entry.getKey().get(metric.labels().indexOf("pid")));
            return entry.getValue();
        });
    }

    private static Optional<Durations> busiestAllReduce(LiveMetrics.View view, Map<String, String> measured) {
        return view.series().durations(Metrics.NCCL).entrySet().stream()
                .filter(entry -> entry.getKey().getFirst().equals("all_reduce"))
                .max(Comparator.comparingLong(entry -> entry.getValue().count()))
                .map(entry -> {
                    measured.put("nccl_allreduce", "pid " + entry.getKey().getLast());
                    return entry.getValue();
                });
    }

    private static double quantile(Optional<Durations> durations, double quantile, double unit, LiveMetrics.View view) {
        double seconds = durations
                .map(known -> known.seconds(Window.MINUTE, quantile, view.nowNanos()))
                .orElse(0.0);
        return Double.isNaN(seconds) ? 0 : seconds * unit;
    }

    private static double sum(LiveMetrics.View view, Metric metric) {
        return view.series().numbers(metric).values().stream()
                .mapToDouble(sum -> sum.value())
                .sum();
    }

    private static List<Snapshot.Training> processes(LiveMetrics.View view) {
        Map<String, Map<String, Double>> phases = new HashMap<>();
        view.series().numbers(Metrics.PHASE_RATIO).forEach((labels, sum) -> phases.computeIfAbsent(
                        labels.getFirst(), _ -> new LinkedHashMap<>())
                .put(labels.getLast(), sum.value()));
        return view.series().numbers(Metrics.STEPS).entrySet().stream()
                .sorted(Comparator.comparingDouble(entry -> -entry.getValue().value()))
                .limit(PROCESSES)
                .map(entry -> {
                    String pid = entry.getKey().getFirst();
                    Durations steps = view.series().durations(Metrics.STEP, entry.getKey());
                    String rank = view.rank(pid);
                    Snapshot.Timing step = timing(Metrics.STEP, entry.getKey(), steps, view);
                    Double late = quantile(Metrics.NCCL_LATE, entry.getKey(), 0.5, view);
                    return new Snapshot.Training(
                            pid,
                            rank.isEmpty() ? null : rank,
                            pid.equals(SeriesTable.OTHER) ? "" : view.comm(Long.parseLong(pid)),
                            entry.getValue().value(),
                            step,
                            late,
                            lateness(late, step.p50Ms()),
                            quantile(Metrics.DATALOADER_WAIT, entry.getKey(), 0.5, view),
                            quantile(Metrics.CUDA_LAUNCH, entry.getKey(), 0.99, view),
                            phases.getOrDefault(pid, Map.of()));
                })
                .toList();
    }

    private static String lateness(@Nullable Double lateMillis, @Nullable Double stepMillis) {
        double share = lateMillis == null || stepMillis == null || stepMillis == 0 ? 0 : lateMillis / stepMillis;
        return Lateness.of(share);
    }

    /// Milliseconds; null where nothing of this happened in the last minute.
    private static @Nullable Double quantile(Metric metric, List<String> pid, double quantile, LiveMetrics.View view) {
        Durations durations = view.series().durations(metric).get(pid);
        return durations == null ? null : millis(durations.seconds(Window.MINUTE, quantile, view.nowNanos()));
    }

    private static List<Snapshot.Timing> timings(LiveMetrics.View view) {
        List<Snapshot.Timing> timings = new ArrayList<>();
        for (Metric metric : Metrics.ALL) {
            view.series().durations(metric).entrySet().stream()
                    .sorted(Comparator.comparingLong(entry -> -entry.getValue().count()))
                    .limit(TIMINGS / 10)
                    .forEach(entry -> timings.add(timing(metric, entry.getKey(), entry.getValue(), view)));
        }
        return timings.size() > TIMINGS ? timings.subList(0, TIMINGS) : timings;
    }

    private static Snapshot.Timing timing(
            Metric metric, List<String> values, Durations durations, LiveMetrics.View view) {
        return new Snapshot.Timing(
                metric.name(),
                metric.labelled(values),
                durations.count(),
                durations.sumSeconds(),
                millis(durations.seconds(Window.MINUTE, 0.5, view.nowNanos())),
                millis(durations.seconds(Window.MINUTE, 0.99, view.nowNanos())));
    }

    private static @Nullable Double millis(double seconds) {
        return Double.isNaN(seconds) ? null : seconds * 1e3;
    }
}
