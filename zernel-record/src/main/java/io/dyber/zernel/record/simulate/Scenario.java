package io.dyber.zernel.record.simulate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// What is wrong with a simulated training job.
public enum Scenario {
    HEALTHY("the data is ready before each step"),
    DATA_BOUND_CPU("the workers' transforms are too slow; no storage to blame"),
    DATA_BOUND_STORAGE("the workers wait for reads of a slow file system"),
    TOO_FEW_WORKERS("each sample is cheap enough, but one worker cannot keep up");

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
