package io.dyber.zernel.record.python;

import io.dyber.zernel.record.process.Memory;
import io.dyber.zernel.record.python.InterpreterLayout.Texts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/// Reads `str` objects from the memory of a process, cut after 512 characters.
///
/// @param memory what cannot be read there, or is no text, gives none
record TextReader(Texts layout, Memory memory) {
    private static final int MOST_CHARACTERS = 512;

    Optional<String> read(long address) {
        int known = Math.max(layout.state() + Integer.BYTES, layout.length() + Long.BYTES);
        byte[] bytes = memory.read(address, known);
        if (bytes.length < known) {
            return Optional.empty();
        }
        ByteBuffer object = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int state = object.getInt(layout.state());
        int kind = state >>> layout.kindShift() & 7;
        boolean ascii = (state & layout.asciiBit()) != 0;
        long length = object.getLong(layout.length());
        if (length < 0 || (kind != 1 && kind != 2 && kind != 4) || (ascii && kind != 1)) {
            return Optional.empty();
        }
        long start = start(address, state, ascii);
        int count = (int) Math.min(length, MOST_CHARACTERS);
        return count == 0 ? Optional.of("") : text(memory.read(start, count * kind), count, kind);
    }

    /// Where the characters are: behind the object, or, of a subclass of `str`, where it points to.
    private long start(long address, int state, boolean ascii) {
        if ((state & layout.compactBit()) != 0) {
            return address + (ascii ? layout.ascii() : layout.compact());
        }
        byte[] pointer = memory.read(address + layout.compact(), Long.BYTES);
        return pointer.length < Long.BYTES ? 0 : ByteBuffer.wrap(pointer).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    private static Optional<String> text(byte[] bytes, int count, int kind) {
        if (bytes.length < count * kind) {
            return Optional.empty();
        }
        ByteBuffer characters = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder text = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            int character = switch (kind) {
                case 1 -> characters.get() & 0xff;
                case 2 -> characters.getShort() & 0xffff;
                default -> characters.getInt();
            };
            if (!Character.isValidCodePoint(character)) {
                return Optional.empty();
            }
            text.appendCodePoint(isHalf(character) ? '\ufffd' : character);
        }
        return Optional.of(text.toString());
    }

    /// Half of a surrogate pair, as Python has for bytes of a file name that are not UTF-8.
    private static boolean isHalf(int character) {
        return character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE;
    }
}
