package io.dyber.zernel.record.simulate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// What is wrong with a simulated training job.
public enum Scenario {
    HEALTHY("the GPU is busy: data, launches and collectives are ready before it needs them"),
    DATA_BOUND_CPU("the workers' transforms are too slow, on every CPU that the job has"),
    DATA_BOUND_STORAGE("the workers wait for reads of a slow file system"),
    TOO_FEW_WORKERS("one or two workers cannot keep up, while CPUs are idle"),
    WORKER_STARTUP("each epoch starts its workers anew"),
    LAUNCH_BOUND("many small kernels, launched more slowly than they run"),
    SYNC_BOUND(".item() stops the program in the middle of each step, and the GPU runs dry"),
    PAGEABLE_COPIES("large batches are copied from pageable memory, and the program waits for that");

    private final String meaning;

    Scenario(String meaning) {
        this.meaning = meaning;
    }

    /// The name on the command line: `data-bound-cpu`.
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String meaning() {
        return meaning;
    }

    public static Optional<Scenario> named(String label) {
        return Arrays.stream(values()).filter(s -> s.label().equals(label)).findFirst();
    }
}
