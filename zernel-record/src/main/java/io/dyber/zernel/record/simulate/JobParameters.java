package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.ALLOCATOR_CHURN;
import static io.dyber.zernel.record.simulate.Scenario.CPU_PREEMPTED;
import static io.dyber.zernel.record.simulate.Scenario.DATA_BOUND_STORAGE;
import static io.dyber.zernel.record.simulate.Scenario.HANG;
import static io.dyber.zernel.record.simulate.Scenario.LAUNCH_BOUND;
import static io.dyber.zernel.record.simulate.Scenario.PAGEABLE_COPIES;
import static io.dyber.zernel.record.simulate.Scenario.SMALL_COLLECTIVES;
import static io.dyber.zernel.record.simulate.Scenario.SYNC_BOUND;
import static io.dyber.zernel.record.simulate.Scenario.TOO_FEW_WORKERS;
import static io.dyber.zernel.record.simulate.Scenario.WORKER_STARTUP;

import io.dyber.zernel.record.simulate.machine.Noise;
import java.util.List;
import java.util.Set;

/// A training job as the seed has it: everything but what is planted. Durations are means.
///
/// @param onGpu whether there are GPUs; without, kernels are work on the CPU
/// @param nvml whether the driver can be asked how busy the GPUs are
/// @param stepsPerEpoch batches that the data set has
/// @param pinned whether the loader hands over batches in pinned memory
/// @param gpuNanos what a step's kernels take
/// @param opNanos CPU time for one operator, without the launch itself
/// @param loadShare of the time that all workers together have for a batch, what one takes
/// @param readingShare part of loading spent in reads of the data set, which is in the page cache
/// @param syncEvery steps from one look at the loss to the next
/// @param syncInStep whether that is between backward pass and optimizer, else behind the step
/// @param commShare of the backward pass that the collectives take
/// @param latencyNanos of a collective of no bytes
/// @param straggler the rank that would be late, and why
/// @param stallEvery steps from one stall to the next
/// @param cpus of the machine
record JobParameters(
        boolean onGpu,
        boolean nvml,
        int ranks,
        int stepsPerEpoch,
        int workers,
        boolean pinned,
        int batchSize,
        int sampleBytes,
        double loadShare,
        double readingShare,
        double gpuNanos,
        double opNanos,
        StepKernels kernels,
        int syncEvery,
        boolean syncInStep,
        int buckets,
        double commShare,
        double latencyNanos,
        int straggler,
        RankSlowdown.Reason stragglerReason,
        int stallEvery,
        long modelBytes,
        long memoryTotal,
        int cpus) {

    /// Device memory that the driver keeps for itself.
    static final long DRIVER_BYTES = 600L << 20;

    private static final List<RankSlowdown.Reason> REASONS =
            List.of(RankSlowdown.Reason.DATA, RankSlowdown.Reason.GPU, RankSlowdown.Reason.CPU);

    private static final int PREFETCH_FACTOR = 2;
    private static final long GIB = 1L << 30;

    static JobParameters draw(Simulation.Settings settings, Set<Scenario> causes, Noise noise) {
        boolean manySmall = causes.contains(LAUNCH_BOUND) || causes.contains(SMALL_COLLECTIVES);
        boolean busyCpu = causes.contains(CPU_PREEMPTED);
        double gpu = manySmall || busyCpu ? noise.betweenLog(9e6, 30e6) : noise.betweenLog(40e6, 300e6);
        int kernels = (int) (causes.contains(LAUNCH_BOUND) || busyCpu ? noise.betweenLog(250, 500) : noise.betweenLog(60, 320));
        boolean quiet = causes.contains(SYNC_BOUND) || busyCpu;
        boolean fewWorkers = causes.contains(TOO_FEW_WORKERS);
        boolean churn = causes.contains(ALLOCATOR_CHURN);
        boolean restarts = causes.contains(WORKER_STARTUP);
        int workers = fewWorkers ? noise.between(1, 2) : restarts ? noise.between(2, 4) : noise.between(2, 6) * 2;
        int batch = 8 * noise.between(1, 5);
        boolean pinned = noise.chance(0.6);
        int sample = pinned ? noise.between(40_000, 250_000) : noise.between(2_000, 15_000);
        int spareCpus = causes.contains(Scenario.DATA_BOUND_CPU) ? noise.between(1, 2) : noise.between(6, 12);
        boolean small = causes.contains(SMALL_COLLECTIVES);
        long model = (long) (small ? noise.betweenLog(20 << 20, 60 << 20) : noise.betweenLog(60 << 20, 1.5 * GIB));
        boolean onGpu = causes.stream().allMatch(Scenario::usesGpu);
        return new JobParameters(
                onGpu,
                onGpu && settings.nvml(),
                settings.ranks(),
                restarts ? noise.between(15, 40) : noise.between(1_500, 9_000),
                workers,
                onGpu && (pinned || quiet || causes.contains(PAGEABLE_COPIES)),
                batch,
                sample,
                restarts ? noise.between(0.08, 0.15) : noise.between(0.3, 0.55),
                causes.contains(DATA_BOUND_STORAGE) ? noise.between(0.3, 0.5) : noise.between(0.03, 0.1),
                gpu,
                busyCpu ? 0.7 * gpu / kernels : Math.min(noise.betweenLog(6_000, 22_000), 0.4 * gpu / kernels),
                StepKernels.draw(noise.of(1), kernels, gpu, (long) (churn ? noise.betweenLog(0.1 * GIB, 0.3 * GIB) : noise.betweenLog(0.5 * GIB, 6 * GIB))),
                new int[] {1, 1, 5, 10, 20}[quiet ? noise.between(3, 4) : causes.contains(HANG) ? 0 : noise.between(0, 4)],
                noise.chance(0.4),
                small ? noise.between(1, 2) : noise.between(4, 12),
                small ? noise.between(0.02, 0.05) : noise.between(0.15, 0.4),
                small ? noise.betweenLog(30_000, 80_000) : noise.betweenLog(16_000, 30_000),
                noise.between(0, settings.ranks() - 1),
                REASONS.get(noise.between(0, 2)),
                noise.between(6, 20),
                model,
                new long[] {24, 40, 80}[noise.between(0, 2)] * GIB,
                settings.ranks() * (workers + spareCpus));
    }

    /// The same job of other ranks.
    ///
    /// @param ofMachine CPUs of each machine
    JobParameters ofRanks(int number, int ofMachine) {
        return with(number, straggler % number, stragglerReason, ofMachine);
    }

    JobParameters withStraggler(int rank, RankSlowdown.Reason reason) {
        return with(ranks, rank, reason, cpus);
    }

    private JobParameters with(int number, int late, RankSlowdown.Reason reason, int allCpus) {
        return new JobParameters(
                onGpu, nvml, number, stepsPerEpoch, workers, pinned, batchSize, sampleBytes, loadShare, readingShare, gpuNanos,
                opNanos, kernels, syncEvery, syncInStep, buckets, commShare, latencyNanos, late, reason, stallEvery, modelBytes,
                memoryTotal, allCpus);
    }

    long usableMemory() {
        return memoryTotal - DRIVER_BYTES;
    }

    int prefetchFactor() {
        return PREFETCH_FACTOR;
    }

    long batchBytes() {
        return (long) batchSize * sampleBytes;
    }
}
