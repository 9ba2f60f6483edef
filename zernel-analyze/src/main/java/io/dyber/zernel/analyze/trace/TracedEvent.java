package io.dyber.zernel.analyze.trace;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// An event of a profiler's trace; times are nanoseconds without the base.
///
/// @param owner process, or GPU
/// @param lane thread, or stream
/// @param size grid x, y, z, block x, y, z of a kernel, if known
/// @param process of what ran on a GPU, if it is said
record TracedEvent(
        Category category,
        String name,
        long start,
        long duration,
        @Nullable Long owner,
        @Nullable Long lane,
        @Nullable Long correlation,
        @Nullable Long bytes,
        List<@Nullable Long> size,
        @Nullable Long process) {
    /// Nothing is believed to last longer: eleven days.
    static final long LONGEST_NANOS = 1_000_000_000_000_000L;

    private static final List<String> REGIONS =
            List.of("ProfilerStep#", "Optimizer.", "enumerate(DataLoader)#", "nccl:", "## ", "zernel.");

    /// Nothing is believed to be later: the year 2096.
    static final long LATEST_NANOS = 4_000_000_000_000_000_000L;

    /// What is wrong with an event that cannot be used; null when nothing is.
    static @Nullable String flaw(
            Category category, @Nullable String name, @Nullable Long start, @Nullable Long duration, @Nullable Long owner) {
        String what =
                switch (category) {
                    case KERNEL -> "kernel";
                    case COPY -> "copy";
                    case FILL -> "fill";
                    case CALL -> "call";
                    case REGION -> "range";
                    case OPERATOR -> "operator";
                    case FUNCTION -> "function";
                };
        if (name == null) {
            return what + " without a name";
        }
        if (start == null || Math.abs(start) > LATEST_NANOS) {
            return what + " without a time";
        }
        if (duration == null || duration < 0 || duration > LONGEST_NANOS) {
            return what + " without a duration";
        }
        return category.isOnGpu() && owner == null ? what + " without a device" : null;
    }

    /// What an event is, by its `cat`; those of 2021 and before were written otherwise.
    enum Category {
        KERNEL,
        COPY,
        FILL,
        /// A call of the CUDA runtime or driver.
        CALL,
        /// A named range of the program: `record_function`, a step of the profiler, `Optimizer.step`, a batch.
        REGION,
        /// An operator of PyTorch, on the CPU.
        OPERATOR,
        /// A function of Python, where the profiler recorded stacks.
        FUNCTION;

        /// Older traces take ranges for operators.
        static @Nullable Category of(@Nullable String cat, @Nullable String name) {
            Category said = of(cat);
            return said == OPERATOR && name != null && REGIONS.stream().anyMatch(name::startsWith) ? REGION : said;
        }

        private static @Nullable Category of(@Nullable String cat) {
            String category = cat == null ? "" : cat.toLowerCase(Locale.ROOT);
            return switch (category) {
                case "kernel" -> KERNEL;
                case "gpu_memcpy", "memcpy" -> COPY;
                case "gpu_memset", "memset" -> FILL;
                case "runtime" -> CALL;
                case "user_annotation" -> REGION;
                case "cpu_op", "operator" -> OPERATOR;
                case "python_function" -> FUNCTION;
                // Of CUDA, HIP, and other makers' devices.
                default -> category.endsWith("_runtime") || category.endsWith("_driver") ? CALL : null;
            };
        }

        boolean isOnGpu() {
            return this == KERNEL || this == COPY || this == FILL;
        }
    }
}
