package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.CPU_PREEMPTED;
import static io.dyber.zernel.record.simulate.Scenario.STRAGGLER_RANK;

/// What is slower on one rank than on the others.
///
/// @param loadShare more that a worker takes for a batch
/// @param slowness of the GPU's kernels, 1 is usual
/// @param preempted time off the CPU per step, as a share of the GPU's time
record RankSlowdown(double loadShare, double slowness, double preempted) {
    /// Why a rank is late.
    enum Reason {
        DATA,
        GPU,
        CPU
    }

    /// Of a rank before it is slower.
    static RankSlowdown none(InjectedCauses plant) {
        return new RankSlowdown(0, 1, plant.amount(CPU_PREEMPTED));
    }

    static RankSlowdown of(JobParameters shape, InjectedCauses plant, int rank) {
        double preempted = plant.amount(CPU_PREEMPTED);
        double amount = plant.amount(STRAGGLER_RANK);
        if (amount == 0 || rank != shape.straggler()) {
            return new RankSlowdown(0, 1, preempted);
        }
        return switch (shape.stragglerReason()) {
            case DATA -> new RankSlowdown(amount, 1, preempted);
            case GPU -> new RankSlowdown(0, 1 + amount, preempted);
            case CPU -> new RankSlowdown(0, 1, preempted + amount);
        };
    }
}
