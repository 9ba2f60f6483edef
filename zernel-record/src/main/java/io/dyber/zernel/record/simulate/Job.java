package io.dyber.zernel.record.simulate;

/// The simulated training: what the scenario plants and the seed decides. Durations are means.
///
/// @param computeNanos what a step takes when its data is there
/// @param loadNanos what one worker takes for one batch
/// @param readingShare part of `loadNanos` spent in reads of the data set
/// @param sampleBytes size of one sample, read by one call
record Job(
        Scenario scenario,
        int ranks,
        int steps,
        int stepsPerEpoch,
        int workers,
        int prefetchFactor,
        int batchSize,
        int sampleBytes,
        long computeNanos,
        long loadNanos,
        double readingShare) {

    /// Loading is planted relative to computing: a batch must come every `computeNanos`, from all workers together.
    static Job draw(Simulation.Settings settings, Noise noise) {
        long compute = Math.round(noise.between(40e6, 160e6));
        int workers = settings.scenario() == Scenario.TOO_FEW_WORKERS ? 1 : noise.between(2, 4) * 2;
        double slowness =
                switch (settings.scenario()) {
                    case HEALTHY -> noise.between(0.35, 0.6);
                    case DATA_BOUND_CPU, DATA_BOUND_STORAGE, TOO_FEW_WORKERS -> noise.between(1.5, 2.2);
                };
        double reading =
                switch (settings.scenario()) {
                    case HEALTHY, TOO_FEW_WORKERS -> noise.between(0.05, 0.12);
                    case DATA_BOUND_CPU -> noise.between(0.01, 0.05);
                    case DATA_BOUND_STORAGE -> noise.between(0.7, 0.88);
                };
        return new Job(
                settings.scenario(),
                settings.ranks(),
                settings.steps(),
                noise.between(40, 90),
                workers,
                2,
                8 * noise.between(2, 6),
                noise.between(40_000, 250_000),
                compute,
                Math.round(compute * workers * slowness),
                reading);
    }

    /// Cores of the simulated machine: enough, so that loading is slow for the planted reason only.
    int cpus() {
        return Math.max(16, ranks * (workers + 2));
    }
}
