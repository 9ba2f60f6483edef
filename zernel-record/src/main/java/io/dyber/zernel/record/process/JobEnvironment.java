package io.dyber.zernel.record.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// The few environment variables that say which part of a job a process is, and with how many threads it computes.
final class JobEnvironment {
    static final int MOST_BYTES = 1024;
    static final List<String> KEYS = List.of(
            "RANK",
            "LOCAL_RANK",
            "WORLD_SIZE",
            "GROUP_RANK",
            "MASTER_ADDR",
            "MASTER_PORT",
            "CUDA_VISIBLE_DEVICES",
            "OMP_NUM_THREADS",
            "SLURM_JOB_ID",
            "SLURM_PROCID",
            "OMPI_COMM_WORLD_RANK",
            "TORCHELASTIC_RUN_ID");

    private JobEnvironment() {}

    /// As the process was started with; empty when this user may not look.
    static Map<String, String> of(Path proc) {
        return StartEnvironment.of(proc, KEYS, MOST_BYTES);
    }
}
