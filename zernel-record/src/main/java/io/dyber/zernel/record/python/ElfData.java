package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.OptionalLong;

/// What a file has at and behind one of its variables, as it is before the program starts.
///
/// @param object empty when there is no such variable
record ElfData(ElfFile elf, Optional<ElfFile.Variable> object) {
    static ElfData of(ElfFile elf, String variable) throws ElfException {
        return new ElfData(elf, elf.object(variable));
    }

    /// As linked.
    OptionalLong address() {
        return object.map(found -> OptionalLong.of(found.address())).orElseGet(OptionalLong::empty);
    }

    /// Its size; 0 where there is none, or the file does not say.
    long bytes() {
        return object.map(ElfFile.Variable::bytes).orElse(0L);
    }

    /// Eight bytes; 0 where there are none.
    long number(long behind) throws ElfException {
        OptionalLong offset =
                object.isPresent() ? elf.fileOffset(object.get().address() + behind) : OptionalLong.empty();
        if (offset.isEmpty()) {
            return 0;
        }
        byte[] bytes = elf.code(offset.getAsLong(), Long.BYTES);
        return bytes.length == Long.BYTES ? ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong() : 0;
    }
}
