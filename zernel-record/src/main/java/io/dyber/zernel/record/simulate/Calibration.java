package io.dyber.zernel.record.simulate;

import java.util.Set;

/// Finds how much of a cause to plant so that it costs the asked share of the step: by running the model, which writes
/// nothing then, with and without it.
final class Calibration {
    private static final double CLOSE = 0.006;
    private static final int MOST_TRIES = 14;

    private final Shape shape;
    private final Noise noise;
    private final int steps;

    Calibration(Shape shape, Noise noise, int steps) {
        this.shape = shape;
        this.noise = noise;
        this.steps = steps;
    }

    /// Adds a cause.
    Plant add(Plant others, Scenario cause, double lostShare) {
        double low = 0;
        double lowMiss = -lostShare;
        double high = Double.NaN;
        double highMiss = 0;
        double best = 0;
        double bestMiss = lostShare;
        double amount = guess(cause, lostShare);
        for (int i = 0; i < MOST_TRIES && bestMiss > CLOSE; i++) {
            double miss = lostShare(others.with(cause, amount), cause) - lostShare;
            if (Math.abs(miss) < bestMiss) {
                best = amount;
                bestMiss = Math.abs(miss);
            }
            if (miss < 0) {
                low = amount;
                lowMiss = miss;
            } else {
                high = amount;
                highMiss = miss;
            }
            amount = Double.isNaN(high) ? 2 * amount : between(low, lowMiss, high, highMiss);
        }
        return others.with(cause, best);
    }

    /// What one cause among those planted costs, as a share of the step.
    double lostShare(Plant plant, Scenario cause) {
        double with = stepNanos(plant);
        return 1 - stepNanos(plant.without(cause)) / with;
    }

    long stepNanos(Plant plant) {
        return new Training(shape, plant, steps, Timeline.silent(), noise).run().stepNanos();
    }

    /// Where a straight line would have the target, but not close to an end, where it may not move.
    private static double between(double low, double lowMiss, double high, double highMiss) {
        double part = lowMiss / (lowMiss - highMiss);
        return low + Math.clamp(part, 0.15, 0.85) * (high - low);
    }

    private double guess(Scenario cause, double lostShare) {
        double longer = 1 / (1 - lostShare);
        return switch (cause) {
            case DATA_BOUND_CPU, DATA_BOUND_STORAGE -> longer - shape.loadShare();
            case TOO_FEW_WORKERS -> longer * shape.workers();
            case LAUNCH_BOUND -> longer;
            case WORKER_STARTUP -> (longer - 1) * shape.stepsPerEpoch();
            case HEALTHY, SYNC_BOUND, PAGEABLE_COPIES -> longer - 1;
        };
    }

    static Set<Scenario> causes(Scenario scenario) {
        return scenario == Scenario.HEALTHY ? Set.of() : Set.of(scenario);
    }
}
