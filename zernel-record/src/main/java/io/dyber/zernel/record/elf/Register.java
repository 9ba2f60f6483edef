package io.dyber.zernel.record.elf;

import java.util.Optional;

/// A general-purpose register of x86-64.
public enum Register {
    R15(0, "r15", "r15d", "r15w", "r15b"),
    R14(8, "r14", "r14d", "r14w", "r14b"),
    R13(16, "r13", "r13d", "r13w", "r13b"),
    R12(24, "r12", "r12d", "r12w", "r12b"),
    RBP(32, "rbp", "ebp", "bp", "bpl"),
    RBX(40, "rbx", "ebx", "bx", "bl"),
    R11(48, "r11", "r11d", "r11w", "r11b"),
    R10(56, "r10", "r10d", "r10w", "r10b"),
    R9(64, "r9", "r9d", "r9w", "r9b"),
    R8(72, "r8", "r8d", "r8w", "r8b"),
    RAX(80, "rax", "eax", "ax", "al"),
    RCX(88, "rcx", "ecx", "cx", "cl"),
    RDX(96, "rdx", "edx", "dx", "dl"),
    RSI(104, "rsi", "esi", "si", "sil"),
    RDI(112, "rdi", "edi", "di", "dil"),
    RSP(152, "rsp", "esp", "sp", "spl");

    private final int ptRegsOffset;
    private final String names;

    Register(int ptRegsOffset, String... names) {
        this.ptRegsOffset = ptRegsOffset;
        this.names = " " + String.join(" ", names) + " ";
    }

    /// Where a uprobe program finds it in its `struct pt_regs`.
    public int ptRegsOffset() {
        return ptRegsOffset;
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
