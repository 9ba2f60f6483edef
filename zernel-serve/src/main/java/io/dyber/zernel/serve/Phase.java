package io.dyber.zernel.serve;

import java.util.Locale;

/// What a training thread is busy with. The names are zerneld's.
public enum Phase {
    /// Waiting for the next batch.
    DATA_LOADING,
    /// Forward, backward and named regions: wall time of dispatching and waiting, not GPU time.
    GPU_COMPUTE,
    /// Inside a NCCL call.
    NCCL_COLLECTIVE,
    /// Inside the optimizer.
    OPTIMIZER_STEP,
    /// Anything else.
    UNKNOWN;

    /// The value of the label `phase`.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
