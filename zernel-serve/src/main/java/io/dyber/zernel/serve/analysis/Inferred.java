package io.dyber.zernel.serve.analysis;

import java.util.EnumMap;
import java.util.Map;

/// What follows from the events of a recording, as the analyzer's SQL library says it.
public sealed interface Inferred {
    /// The event time from which on it holds.
    long atNanos();

    /// A training step has ended. Its phases add up to it.
    record Step(
            long pid,
            long startNanos,
            long endNanos,
            long dataLoadingNanos,
            long gpuComputeNanos,
            long ncclCollectiveNanos,
            long optimizerStepNanos,
            long unknownNanos)
            implements Inferred {
        @Override
        public long atNanos() {
            return endNanos;
        }

        public Map<Phase, Long> phaseNanos() {
            Map<Phase, Long> nanos = new EnumMap<>(Phase.class);
            nanos.put(Phase.DATA_LOADING, dataLoadingNanos);
            nanos.put(Phase.GPU_COMPUTE, gpuComputeNanos);
            nanos.put(Phase.NCCL_COLLECTIVE, ncclCollectiveNanos);
            nanos.put(Phase.OPTIMIZER_STEP, optimizerStepNanos);
            nanos.put(Phase.UNKNOWN, unknownNanos);
            return nanos;
        }
    }

    /// A rank has called a collective, so much later than the first rank.
    record Late(long pid, long atNanos, long lateNanos) implements Inferred {}

    /// The last rank has called a collective, so much later than the first rank.
    ///
    /// @param function of NCCL, or `torch.distributed`
    record Skew(String function, long atNanos, long skewNanos) implements Inferred {}
}
