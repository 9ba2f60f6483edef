package io.dyber.zernel.record.event;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Turns records of one kind into rows, field by field at the offsets of its C struct.
final class EventReader {
    /// The values that stand for "no value" in `bpf/zernel.bpf.h`.
    static final long NO_LONG = Long.MIN_VALUE;

    private static final int NO_INT = Integer.MIN_VALUE;

    /// Texts that fit two words are looked up without making a string: thread names, states.
    private static final int SHORT_TEXT = 16;

    private final int kindText;
    private final List<Field> fields;
    private final int[] columns;
    private final Texts texts;
    private final Comms comms;
    private final FilePaths files;
    private final long clockOffset;

    EventReader(
            EventType type, Schema schema, Texts texts, Comms comms, FilePaths files, long clockOffset) {
        this.kindText = texts.id(type.kind());
        this.fields = type.fields();
        this.columns = fields.stream().mapToInt(field -> schema.index(field.name())).toArray();
        this.texts = texts;
        this.comms = comms;
        this.files = files;
        this.clockOffset = clockOffset;
    }

    boolean isOf(int kind) {
        return kind == kindText;
    }

    /// @param nameText dictionary id of the event's name, or -1 when it has none
    void read(MemorySegment data, long at, int nameText, Rows rows) {
        rows.add(kindText);
        if (nameText >= 0) {
            rows.put(rows.name, nameText);
        }
        for (int i = 0; i < columns.length; i++) {
            Field field = fields.get(i);
            switch (field.type()) {
                case TEXT -> readText(data, at + field.offset(), field, columns[i], rows);
                case FILE -> readFile(data, at, field.offset(), columns[i], rows);
                case TIME -> rows.put(columns[i], data.get(JAVA_LONG_UNALIGNED, at + field.offset()) + clockOffset);
                case DURATION, BYTES, ADDRESS, COUNT, NUMBER, PROCESS, THREAD, CPU, DESCRIPTOR, STATUS ->
                    readNumber(data, at + field.offset(), field.size(), columns[i], rows);
            }
        }
    }

    private static void readNumber(MemorySegment data, long at, int size, int column, Rows rows) {
        if (size == 8) {
            long value = data.get(JAVA_LONG_UNALIGNED, at);
            if (value != NO_LONG) {
                rows.put(column, value);
            }
        } else {
            int value = data.get(JAVA_INT_UNALIGNED, at);
            if (value != NO_INT) {
                rows.put(column, value);
            }
        }
    }

    private void readFile(MemorySegment data, long at, int offset, int column, Rows rows) {
        int text = files.text(
                data.get(JAVA_INT_UNALIGNED, at + Wire.PID),
                data.get(JAVA_LONG_UNALIGNED, at + offset),
                data.get(JAVA_LONG_UNALIGNED, at + offset + 8));
        if (text >= 0) {
            rows.put(column, text);
        }
    }

    private void readText(MemorySegment data, long at, Field field, int column, Rows rows) {
        if (field.size() == SHORT_TEXT) {
            readShortText(data.get(JAVA_LONG_UNALIGNED, at), data.get(JAVA_LONG_UNALIGNED, at + 8), column, rows);
            return;
        }
        int length = 0;
        while (length < field.size() && data.get(JAVA_BYTE, at + length) != 0) {
            length++;
        }
        if (length > 0) {
            rows.put(column, texts.idOfMany(utf8(data, at, length)));
        }
    }

    private void readShortText(long low, long high, int column, Rows rows) {
        if ((low & 0xff) != 0 || column == rows.comm) {
            rows.put(column, comms.id(low, high));
        }
    }

    static String utf8(MemorySegment data, long at, int length) {
        return new String(data.asSlice(at, length).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
