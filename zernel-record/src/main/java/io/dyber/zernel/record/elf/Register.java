package io.dyber.zernel.record.elf;

import java.util.Optional;

/// A general-purpose register of x86-64.
public enum Register {
    R15(15, "r15", "r15d", "r15w", "r15b"),
    R14(14, "r14", "r14d", "r14w", "r14b"),
    R13(13, "r13", "r13d", "r13w", "r13b"),
    R12(12, "r12", "r12d", "r12w", "r12b"),
    RBP(8, "rbp", "ebp", "bp", "bpl"),
    RBX(7, "rbx", "ebx", "bx", "bl"),
    R11(11, "r11", "r11d", "r11w", "r11b"),
    R10(10, "r10", "r10d", "r10w", "r10b"),
    R9(5, "r9", "r9d", "r9w", "r9b"),
    R8(4, "r8", "r8d", "r8w", "r8b"),
    RAX(6, "rax", "eax", "ax", "al"),
    RCX(3, "rcx", "ecx", "cx", "cl"),
    RDX(2, "rdx", "edx", "dx", "dl"),
    RSI(1, "rsi", "esi", "si", "sil"),
    RDI(0, "rdi", "edi", "di", "dil"),
    RSP(9, "rsp", "esp", "sp", "spl");

    private final int place;
    private final String names;

    Register(int place, String... names) {
        this.place = place;
        this.names = " " + String.join(" ", names) + " ";
    }

    /// Where the tracepoint program keeps it: an index into `struct seen` of `bpf/functions.bpf.c`.
    public int place() {
        return place;
    }

    /// The register that a name means, whatever part of it: `rdi`, `edi`, `di`, `dil`. Not `ah` and its like.
    static Optional<Register> named(String name) {
        for (Register register : values()) {
            if (register.names.contains(" " + name + " ")) {
                return Optional.of(register);
            }
        }
        return Optional.empty();
    }
}
