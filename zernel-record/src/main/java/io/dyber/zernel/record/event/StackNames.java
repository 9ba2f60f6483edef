package io.dyber.zernel.record.event;

import java.util.List;
import java.util.Optional;

/// Says what the frames of a stack are called. Called by the decoding thread only.
public interface StackNames {
    /// Knows none.
    StackNames NONE = _ -> Optional.empty();

    /// A stack as text: its frames, the outermost first, between `;`. None where nothing of it is known.
    Optional<String> text(StackFrames frames);

    /// Takes in what a code object says, before the first stack with a frame of it.
    default void learn(CodeParts code) {}

    /// The process runs another program, or has ended, and nothing that was known of its code holds.
    default void forget(int pid) {}

    /// What the kernel side has read of a code object of Python when it first saw a frame run it.
    ///
    /// @param runtime address of the interpreter's state
    /// @param address of the code object
    /// @param parts of the memory of the process at that time
    record CodeParts(int pid, long runtime, long address, List<Part> parts) {
        public CodeParts {
            parts = List.copyOf(parts);
        }

        /// Bytes at an address.
        @SuppressWarnings("ArrayRecordComponent")
        public record Part(long address, byte[] bytes) {}
    }
}
