package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.probe.FunctionProbe;
import java.util.List;

/// Where the events of a kind come from. Who gets them from there says whether the kind is recorded.
public sealed interface Origin {
    /// Programs that watch the kernel. What is listed here is loaded, and nothing else is.
    ///
    /// @param parts one of which is the whole kind; the others add to its events or to their columns
    record Kernel(List<KernelPart> parts) implements Origin {
        public Kernel {
            parts = List.copyOf(parts);
            if (parts.stream().filter(KernelPart::isWhole).count() != 1) {
                throw new IllegalArgumentException("not one object sees the kind: " + parts);
            }
        }

        /// The object without which there is nothing of the kind, and which declares it.
        String object() {
            return parts.stream().filter(KernelPart::isWhole).findFirst().orElseThrow().object();
        }
    }

    /// Calls of functions in user space.
    ///
    /// @param library what must be loaded for the functions to exist, for messages
    /// @param hooks the functions; empty where `--probe` says which
    record Functions(String library, List<FunctionProbe> hooks) implements Origin {
        public Functions {
            hooks = List.copyOf(hooks);
        }
    }

    /// NVIDIA's driver, which is asked at an interval.
    record Driver() implements Origin {}

    /// CUPTI, which a library of ours asks inside the job.
    record Injected() implements Origin {}

    /// Files of the kernel, which are read at an interval.
    record Host() implements Origin {}

    /// The recorder itself.
    record Recorder() implements Origin {}
}
