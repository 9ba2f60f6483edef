package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.DATA_BOUND_CPU;
import static io.dyber.zernel.record.simulate.Scenario.DATA_BOUND_STORAGE;
import static io.dyber.zernel.record.simulate.Scenario.TOO_FEW_WORKERS;
import static io.dyber.zernel.record.simulate.Scenario.WORKER_STARTUP;

/// What a DataLoader is given to do, in means for one batch.
///
/// @param startNanos from the fork of a worker until it takes its first batch
/// @param forkNanos more than usual that the program needs to fork one: the more, the more memory it has
/// @param transformNanos on the CPU
/// @param cachedNanos in reads that the page cache serves
/// @param storageNanos in reads that wait for storage
/// @param remoteNanos off the CPU, waiting for a remote store
record Loading(
        int workers,
        boolean persistent,
        boolean pinned,
        int samples,
        int sampleBytes,
        long startNanos,
        double forkNanos,
        double transformNanos,
        double cachedNanos,
        double storageNanos,
        double remoteNanos) {
    private static final double UP_NANOS = 9e6;
    /// Time to fork all workers, as a share of what one needs to come up.
    private static final double FORKING = 0.4;

    static Loading of(JobParameters shape, InjectedCauses plant, RankSlowdown handicap) {
        double oneShare = shape.gpuNanos() * shape.workers();
        boolean few = plant.size(TOO_FEW_WORKERS) > 0;
        double load = few ? shape.gpuNanos() * plant.size(TOO_FEW_WORKERS) : oneShare * shape.loadShare();
        double reading = load * shape.readingShare();
        return new Loading(
                few && !plant.has(TOO_FEW_WORKERS) ? enough(plant) : shape.workers(),
                !plant.has(WORKER_STARTUP),
                shape.pinned() && !plant.has(Scenario.PAGEABLE_COPIES),
                shape.batchSize(),
                shape.sampleBytes(),
                Math.round(UP_NANOS + shape.gpuNanos() * plant.amount(WORKER_STARTUP)),
                FORKING * shape.gpuNanos() * plant.amount(WORKER_STARTUP) / shape.workers(),
                load - reading + oneShare * (plant.amount(DATA_BOUND_CPU) + handicap.loadShare()),
                reading,
                oneShare * plant.amount(DATA_BOUND_STORAGE),
                oneShare * plant.amount(Scenario.REMOTE_DATA));
    }

    /// Workers that load a batch in half the time of a step, all together.
    private static int enough(InjectedCauses plant) {
        return Math.max(4, (int) Math.ceil(plant.size(TOO_FEW_WORKERS) / 0.5));
    }
}
