package io.dyber.zernel.record.elf.x86;

import java.util.OptionalInt;

/// A few instructions by which code calls a function of another library: `jmp *pointer(%rip)`, perhaps behind `endbr64`.
public final class Stub {
    /// No stub is longer, in bytes.
    public static final int LONGEST = 16;

    private Stub() {}

    /// Where the pointer lies, in bytes from the start of the code; empty for what is no stub.
    public static OptionalInt pointer(byte[] code) {
        int at = SiteChooser.behindEndBranch(code);
        int length = InstructionLength.of(code, at);
        if (length == 0) {
            return OptionalInt.empty();
        }
        Instruction first = new Instruction(code, at, length);
        return first.jumpsIndirectly() ? first.pointer() : OptionalInt.empty();
    }
}
