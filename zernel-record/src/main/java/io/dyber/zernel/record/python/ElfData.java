package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/// What a file has at and behind one of its variables, as it is before the program starts.
///
/// @param address as linked; empty when there is no such variable
record ElfData(ElfFile elf, OptionalLong address) {
    static ElfData of(ElfFile elf, String variable) throws ElfException {
        return new ElfData(elf, elf.object(variable));
    }

    /// Eight bytes; 0 where there are none.
    long number(long behind) throws ElfException {
        OptionalLong offset =
                address.isPresent() ? elf.fileOffset(address.getAsLong() + behind) : OptionalLong.empty();
        if (offset.isEmpty()) {
            return 0;
        }
        byte[] bytes = elf.code(offset.getAsLong(), Long.BYTES);
        return bytes.length == Long.BYTES ? ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong() : 0;
    }
}
