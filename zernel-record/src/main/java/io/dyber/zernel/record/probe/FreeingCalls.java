package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.x86.Freeing;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// The calls of a library by which it frees memory: through the stubs or pointers that its loader fills.
final class FreeingCalls {
    /// `free`, and `operator delete` in its forms.
    private static final Set<String> FUNCTIONS = Set.of(
            "free", "_ZdlPv", "_ZdlPvm", "_ZdlPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdaPv", "_ZdaPvm");

    private static final int STUB = 16;
    private static final int[] END_BRANCH = {0xf3, 0x0f, 0x1e, 0xfa};
    private static final int BOUND = 0xf2;

    private final ElfFile elf;
    private final Map<Long, Boolean> known = new HashMap<>();
    private Optional<Set<Long>> pointers = Optional.empty();

    FreeingCalls(ElfFile elf) {
        this.elf = elf;
    }

    /// Read when they are first asked for, most files have no function for which they are; none where they cannot be read.
    private Set<Long> pointers() {
        if (pointers.isEmpty()) {
            try {
                pointers = Optional.of(elf.pointersTo(FUNCTIONS));
            } catch (ElfException _) {
                pointers = Optional.of(Set.of());
            }
        }
        return pointers.get();
    }

    /// Those that a function may make whose code is at this place of the file.
    Freeing from(long offset) {
        OptionalLong address = elf.codeAddress(offset);
        if (pointers().isEmpty() || address.isEmpty()) {
            return Freeing.UNKNOWN;
        }
        long start = address.getAsLong();
        return new Freeing() {
            @Override
            public boolean isAt(int place) {
                return known.computeIfAbsent(start + place, stub -> isStub(stub));
            }

            @Override
            public boolean isBehind(int pointer) {
                return pointers().contains(start + pointer);
            }
        };
    }

    /// Whether there is but `jmp *pointer(%rip)`, perhaps behind `endbr64`.
    private boolean isStub(long address) {
        OptionalLong offset = elf.fileOffset(address);
        try {
            byte[] code = offset.isPresent() ? elf.code(offset.getAsLong(), STUB) : new byte[0];
            int at = code.length == STUB && startsWithEndBranch(code) ? END_BRANCH.length : 0;
            at += code.length == STUB && (code[at] & 0xff) == BOUND ? 1 : 0;
            boolean jumps = code.length == STUB && (code[at] & 0xff) == 0xff && code[at + 1] == 0x25;
            return jumps && pointers().contains(address + at + 6 + int32(code, at + 2));
        } catch (ElfException _) {
            return false;
        }
    }

    private static boolean startsWithEndBranch(byte[] code) {
        for (int i = 0; i < END_BRANCH.length; i++) {
            if ((code[i] & 0xff) != END_BRANCH[i]) {
                return false;
            }
        }
        return true;
    }

    private static int int32(byte[] code, int at) {
        return (code[at] & 0xff) | (code[at + 1] & 0xff) << 8 | (code[at + 2] & 0xff) << 16 | code[at + 3] << 24;
    }
}
