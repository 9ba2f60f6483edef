package io.dyber.zernel.record.python;

import io.dyber.zernel.record.process.Memory;
import io.dyber.zernel.record.python.InterpreterLayout.Code;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.stream.IntStream;

/// Reads code objects from the memory of a process: at most 512 characters of a name, and no line table of more than 256 KiB.
///
/// What lies there may have changed meanwhile, or be anything: an address that does not lead to a code object, or to one
/// whose parts cannot be read or make no sense, gives none.
public final class CodeReader {
    private static final int MOST_TABLE = 256 << 10;
    private static final int UNIT = 2;

    private final InterpreterLayout layout;
    private final long codeType;
    private final Memory memory;
    private final TextReader texts;
    private final int head;

    /// @param bias how far from where it was linked the interpreter was loaded
    public CodeReader(InterpreterLayout layout, long bias, Memory memory) {
        this.layout = layout;
        this.codeType = layout.codeType() + bias;
        this.memory = memory;
        this.texts = new TextReader(layout.texts(), memory);
        Code code = layout.code();
        this.head = Long.BYTES
                + IntStream.of(code.type(), code.size(), code.name(), code.file(), code.firstLine(), code.lineTable())
                        .max()
                        .orElse(0);
    }

    /// The code object at an address, without tags.
    public Optional<CodeObject> read(long address) {
        Code code = layout.code();
        byte[] bytes = memory.read(address, head);
        if (bytes.length < head) {
            return Optional.empty();
        }
        ByteBuffer object = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (object.getLong(code.type()) != codeType) {
            return Optional.empty();
        }
        Optional<String> file = texts.read(object.getLong(code.file()));
        Optional<String> function = texts.read(object.getLong(code.name()));
        if (file.isEmpty() || function.isEmpty()) {
            return Optional.empty();
        }
        int firstLine = object.getInt(code.firstLine());
        LineTable lines = lines(object.getLong(code.lineTable()), firstLine, object.getLong(code.size()));
        return Optional.of(new CodeObject(file.get(), function.get(), firstLine, lines));
    }

    private LineTable lines(long address, int firstLine, long units) {
        byte[] size = memory.read(address + layout.texts().bytesSize(), Long.BYTES);
        long length = size.length < Long.BYTES ? 0 : ByteBuffer.wrap(size).order(ByteOrder.LITTLE_ENDIAN).getLong();
        if (length <= 0 || length > MOST_TABLE) {
            return LineTable.none();
        }
        byte[] table = memory.read(address + layout.texts().bytes(), (int) length);
        if (layout.code().bytecode() < 0) {
            return LineTable.ofDeltas(table, firstLine);
        }
        return units > 0 && units <= Integer.MAX_VALUE
                ? LineTable.ofLocations(table, firstLine, UNIT * units)
                : LineTable.none();
    }
}
