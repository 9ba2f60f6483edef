package io.dyber.zernel.serve;

import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.source.Playback;
import io.dyber.zernel.serve.source.SourceState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a WebSocket client gets each interval: zerneld's fields under their names (in JSON: snake case), and beside
/// them one field with everything else.
///
/// A client of zerneld reads a number in every field, so "nothing measured" is 0 there; `zernel.measured` tells the
/// two apart.
///
/// @param cudaLatencyP50Us of the process with most launches, over the last minute
/// @param ncclAllreduceP50Ms of the process with most all-reduces, over the last minute
/// @param dataloaderWaitP50Ms of the process with most waits, over the last minute
/// @param lastUpdateMs when events last came in, milliseconds since the epoch
public record Snapshot(
        List<GpuUse> gpuUtilization,
        double cudaLatencyP50Us,
        double cudaLatencyP99Us,
        double ncclAllreduceP50Ms,
        double ncclAllreduceP99Ms,
        double dataloaderWaitP50Ms,
        long lastUpdateMs,
        More zernel) {

    /// GPU memory of one process on one device.
    ///
    /// @param key `pid:device`
    public record GpuUse(String key, long currentBytes, long peakBytes) {}

    /// The superset.
    ///
    /// @param version 1; changes when a field changes its meaning
    /// @param intervalMs from one snapshot to the next
    /// @param replay where the replay is; null for a recording that is still being written
    /// @param eventTimeMs event time reached, milliseconds since the epoch
    /// @param measured which process zerneld's fields are about, by measure; a measure without data is not there
    /// @param processes the training processes and what they spend their steps on, the busiest first, 128 at most
    /// @param processCount how many there are
    /// @param timings all durations by metric name and labels
    /// @param gpus what the driver says of the devices
    /// @param findings what the analyzer says about the recording
    /// @param alerts those that are pending or fire
    /// @param point what the page adds to its charts
    public record More(
            int version,
            long intervalMs,
            SourceState source,
            Playback.@Nullable Status replay,
            double eventTimeMs,
            Map<String, String> measured,
            double events,
            double lost,
            List<Training> processes,
            int processCount,
            List<Timing> timings,
            List<Device> gpus,
            Findings findings,
            List<Raised> alerts,
            Charts.Point point) {}

    /// A GPU, as the driver counts it; null is what it did not say.
    ///
    /// @param gpuId with a MIG instance of it as `1/3`
    /// @param utilization share of the time in which a kernel ran
    /// @param smActive share of the SMs' time in which they had work
    /// @param tensorActive share of the time in which tensor cores were busy
    /// @param dramActive share of the time in which its memory was busy
    public record Device(
            String gpuId,
            @Nullable Double utilization,
            @Nullable Double smActive,
            @Nullable Double tensorActive,
            @Nullable Double dramActive,
            @Nullable Double memoryUsedBytes,
            @Nullable Double memoryTotalBytes,
            @Nullable Double powerWatts,
            @Nullable Double temperatureCelsius) {}

    /// An alert.
    ///
    /// @param state `pending` or `firing`
    /// @param text what it is about, in one line
    public record Raised(String name, String state, String severity, String text, long sinceMs) {}

    /// A process that trains. Quantiles are as those of a [Timing].
    ///
    /// @param rank in its job; null where it has none, or that is not known
    /// @param lateP50Ms how much later than the first rank it calls collectives; null where those of one rank only are recorded
    /// @param lateness what that is of a step: `in_time`, `late` or `very_late`
    /// @param phases share of each phase in the steps of the last minute
    public record Training(
            String pid,
            @Nullable String rank,
            String comm,
            double steps,
            Timing step,
            @Nullable Double lateP50Ms,
            String lateness,
            @Nullable Double dataWaitP50Ms,
            @Nullable Double launchP99Ms,
            Map<String, Double> phases) {}

    /// Durations of one series. Quantiles are over the last minute, in milliseconds, and null when nothing happened
    /// in it; count and sum are since the start.
    public record Timing(
            String metric,
            Map<String, String> labels,
            long count,
            double sumSeconds,
            @Nullable Double p50Ms,
            @Nullable Double p99Ms) {}
}
