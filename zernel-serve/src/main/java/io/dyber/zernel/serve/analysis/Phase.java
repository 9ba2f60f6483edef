package io.dyber.zernel.serve.analysis;

import java.util.Locale;

/// What a training thread is busy with: the five phases of the analyzer's view `phases`, under zerneld's names.
public enum Phase {
    /// Waiting for the next batch.
    DATA_LOADING,
    /// Forward and backward passes, named regions and waits for the GPU: wall time of dispatching and waiting, not GPU
    /// time.
    GPU_COMPUTE,
    /// In calls of NCCL, in waits of torch.distributed, and in waits for the GPU behind a collective.
    NCCL_COLLECTIVE,
    /// In the optimizer.
    OPTIMIZER_STEP,
    /// In anything else.
    UNKNOWN;

    /// The value of the label `phase`.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
