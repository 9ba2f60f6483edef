package io.dyber.zernel.serve;

import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The part of a training step that a call is. The same rules as the analyzer's view `_intervals`.
enum Part {
    DATA_WAIT(Phase.DATA_LOADING),
    BACKWARD(Phase.GPU_COMPUTE),
    COMPUTE(Phase.GPU_COMPUTE),
    COLLECTIVE(Phase.NCCL_COLLECTIVE),
    OPTIMIZER_STEP(Phase.OPTIMIZER_STEP),
    ZERO_GRAD(Phase.OPTIMIZER_STEP);

    private final Phase phase;

    Part(Phase phase) {
        this.phase = phase;
    }

    Phase phase() {
        return phase;
    }

    /// Empty for an event that says nothing about a step.
    static Optional<Part> of(EventBatch batch, int row) {
        return switch (batch.text(TextColumn.KIND, row)) {
            case "region" -> Optional.of(ofRegion(batch.text(TextColumn.NAME, row)));
            case "backward" -> Optional.of(BACKWARD);
            case "cuda_sync" -> Optional.of(COMPUTE);
            case "nccl" -> Optional.of(COLLECTIVE);
            case null, default -> Optional.empty();
        };
    }

    static boolean isDataWait(@Nullable String region) {
        return ofRegion(region) == DATA_WAIT;
    }

    private static Part ofRegion(@Nullable String name) {
        if (name == null) {
            return COMPUTE;
        }
        if (name.startsWith("enumerate(DataLoader)#")) {
            return DATA_WAIT;
        }
        if (name.startsWith("Optimizer.step#")) {
            return OPTIMIZER_STEP;
        }
        return name.startsWith("Optimizer.zero_grad#") ? ZERO_GRAD : COMPUTE;
    }
}
