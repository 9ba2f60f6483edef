package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.List;

/// Finds how much of a cause to plant so that it is as strong as asked for: so that it costs that share of the step, which
/// is found by running the model, which writes nothing then, with and without it.
final class Calibration {
    private static final double CLOSE = 0.006;
    private static final int MOST_TRIES = 14;

    private final JobParameters shape;
    private final Noise noise;
    private final int steps;

    Calibration(JobParameters shape, Noise noise, int steps) {
        this.shape = shape;
        this.noise = noise;
        this.steps = steps;
    }

    /// Plants all causes of a scenario.
    InjectedCauses plant(List<Simulation.Strength> strengths, int steps) {
        InjectedCauses plant = InjectedCauses.nothing();
        for (int round = 0; round < strengths.size(); round++) {
            for (Simulation.Strength asked : strengths) {
                plant = asked.cause().costsTime()
                        ? add(plant, asked.cause(), asked.strength())
                        : plant.with(asked.cause(), amount(asked.cause(), asked.strength(), steps));
            }
        }
        return plant;
    }

    /// What is no time has a measure of its own: bytes per step that take this share of the free memory by the last step.
    private double amount(Scenario cause, double strength, int all) {
        return switch (cause) {
            case MEMORY_LEAK, FRAGMENTATION -> {
                Training healthy = new Training(shape, InjectedCauses.nothing(), 3, Timeline.silent(), noise).run();
                long used = healthy.ranks().getFirst().allocator().peakDeviceBytes();
                yield Math.max(12 << 20, strength * (shape.usableMemory() - used) / all);
            }
            case NEAR_OOM -> 0.95 + 0.05 * strength;
            default -> 1;
        };
    }

    /// Adds a cause, or changes how much of it there is.
    InjectedCauses add(InjectedCauses others, Scenario cause, double lostShare) {
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
    double lostShare(InjectedCauses plant, Scenario cause) {
        double with = stepNanos(plant);
        return 1 - stepNanos(plant.without(cause)) / with;
    }

    long stepNanos(InjectedCauses plant) {
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
            case DATA_BOUND_CPU, DATA_BOUND_STORAGE, REMOTE_DATA -> longer - shape.loadShare();
            case TOO_FEW_WORKERS -> longer * shape.workers();
            case LAUNCH_BOUND -> longer;
            case WORKER_STARTUP -> (longer - 1) * shape.stepsPerEpoch();
            case COMM_BOUND -> 1.7 * (longer - 1);
            case COMM_OVERLAPPED -> 1.7 * (longer - 1) + 0.7;
            case SMALL_COLLECTIVES -> longer - 1;
            case CPU_PREEMPTED -> longer - 0.7;
            default -> longer - 1;
        };
    }
}
