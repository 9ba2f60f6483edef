package io.dyber.zernel.record.elf.x86;

import java.util.OptionalInt;

/// Where to put a probe on a function.
///
/// @param shift bytes after the function's start
/// @param replaced there, the first argument's register holds what was read behind it, plus this; empty where it holds the argument
public record Site(int shift, Cost cost, OptionalInt replaced) {
    /// One where all arguments are as at the start.
    public Site(int shift, Cost cost) {
        this(shift, cost, OptionalInt.empty());
    }

    /// What the kernel does with the instruction under the probe.
    public enum Cost {
        /// Emulated: about half a microsecond a hit.
        EMULATED("emulated"),
        /// Executed out of line with a debug trap: several microseconds a hit in a virtual machine.
        SINGLE_STEPPED("single-stepped");

        private final String label;

        Cost(String label) {
            this.label = label;
        }

        /// The word for it in recordings and tables.
        public String label() {
            return label;
        }
    }
}
