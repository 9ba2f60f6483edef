package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.x86.Stub;
import io.dyber.zernel.record.elf.x86.Surroundings;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/// The code of a library around its functions, and what of other libraries these call: through stubs or pointers that the
/// loader fills.
final class LibraryCode {
    /// `free`, and `operator delete` in its forms.
    private static final Set<String> FREEING = Set.of(
            "free", "_ZdlPv", "_ZdlPvm", "_ZdlPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdaPv", "_ZdaPvm");

    /// By which handlers of exceptions end.
    private static final Set<String> ENDING = Set.of(
            "_Unwind_Resume", "__cxa_rethrow", "__cxa_throw", "__cxa_call_unexpected", "_ZSt9terminatev", "abort", "__stack_chk_fail");

    private static final int PIECE = 1024;

    private final ElfFile elf;
    private final Map<Long, Long> stubs = new HashMap<>();
    private Optional<Set<Long>> freeing = Optional.empty();
    private Optional<Set<Long>> ending = Optional.empty();

    LibraryCode(ElfFile elf) {
        this.elf = elf;
    }

    /// Read when they are first asked for: in most files nobody does. None where they cannot be read.
    private Set<Long> pointersTo(Set<String> functions) {
        try {
            return elf.pointersTo(functions);
        } catch (ElfException _) {
            return Set.of();
        }
    }

    private Set<Long> freeing() {
        if (freeing.isEmpty()) {
            freeing = Optional.of(pointersTo(FREEING));
        }
        return freeing.get();
    }

    private Set<Long> ending() {
        if (ending.isEmpty()) {
            ending = Optional.of(pointersTo(ENDING));
        }
        return ending.get();
    }

    /// What is around the function at this place of the file.
    Surroundings around(long offset) {
        OptionalLong address = elf.codeAddress(offset);
        if (address.isEmpty()) {
            return Surroundings.UNKNOWN;
        }
        long start = address.getAsLong();
        return new Surroundings() {
            @Override
            public boolean frees(int place) {
                return freeing().contains(pointerOf(start + place));
            }

            @Override
            public boolean isPointerToFreeing(int place) {
                return freeing().contains(start + place);
            }

            @Override
            public boolean neverReturns(int place) {
                return ending().contains(pointerOf(start + place));
            }

            @Override
            public byte[] code(int place) {
                return read(start + place, PIECE);
            }
        };
    }

    /// Where the pointer lies through which a stub jumps; 0 for what is none.
    private long pointerOf(long stub) {
        return stubs.computeIfAbsent(stub, this::readStub);
    }

    private long readStub(long address) {
        OptionalInt pointer = Stub.pointer(read(address, Stub.LONGEST));
        return pointer.isPresent() ? address + pointer.getAsInt() : 0;
    }

    private byte[] read(long address, int most) {
        OptionalLong offset = elf.fileOffset(address);
        try {
            return offset.isPresent() ? elf.code(offset.getAsLong(), most) : new byte[0];
        } catch (ElfException _) {
            return new byte[0];
        }
    }
}
