package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.Field;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;
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
    private final StringDictionary texts;
    private final ThreadNames comms;
    private final FilePaths files;
    private final StackTexts stacks;
    private final long clockOffset;

    EventReader(
            EventType type,
            Schema schema,
            StringDictionary texts,
            ThreadNames comms,
            FilePaths files,
            StackTexts stacks,
            long clockOffset) {
        this.kindText = texts.id(type.kind());
        this.fields = type.fields();
        this.columns = fields.stream().mapToInt(field -> schema.index(field.name())).toArray();
        this.texts = texts;
        this.comms = comms;
        this.files = files;
        this.stacks = stacks;
        this.clockOffset = clockOffset;
    }

    boolean isOf(int kind) {
        return kind == kindText;
    }

    /// @param nameText dictionary id of the event's name, or -1 when it has none
    void read(ByteBuffer data, int at, int nameText, Rows rows) {
        rows.add(kindText);
        if (nameText >= 0) {
            rows.put(rows.name, nameText);
        }
        for (int i = 0; i < columns.length; i++) {
            Field field = fields.get(i);
            switch (field.type()) {
                case TEXT -> readText(data, at + field.offset(), field, columns[i], rows);
                case FILE -> readFile(data, at, field.offset(), columns[i], rows);
                case STACK -> readStack(data, at, field.offset(), columns[i], rows);
                case TIME -> rows.put(columns[i], data.getLong(at + field.offset()) + clockOffset);
                case DURATION, BYTES, ADDRESS, COUNT, NUMBER, PROCESS, THREAD, CPU, DESCRIPTOR, STATUS ->
                    readNumber(data, at + field.offset(), field.size(), columns[i], rows);
            }
        }
    }

    private static void readNumber(ByteBuffer data, int at, int size, int column, Rows rows) {
        if (size == 8) {
            long value = data.getLong(at);
            if (value != NO_LONG) {
                rows.put(column, value);
            }
        } else {
            int value = data.getInt(at);
            if (value != NO_INT) {
                rows.put(column, value);
            }
        }
    }

    private void readFile(ByteBuffer data, int at, int offset, int column, Rows rows) {
        int text = files.text(
                data.getInt(at + Wire.PID),
                data.getLong(at + offset),
                data.getLong(at + offset + 8));
        if (text >= 0) {
            rows.put(column, text);
        }
    }

    private void readStack(ByteBuffer data, int at, int offset, int column, Rows rows) {
        int text = stacks.text(data.getInt(at + Wire.PID), data.getLong(at + offset));
        if (text >= 0) {
            rows.put(column, text);
        }
    }

    private void readText(ByteBuffer data, int at, Field field, int column, Rows rows) {
        if (field.size() == SHORT_TEXT) {
            readShortText(data.getLong(at), data.getLong(at + 8), column, rows);
            return;
        }
        int length = 0;
        while (length < field.size() && data.get(at + length) != 0) {
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

    static String utf8(ByteBuffer data, int at, int length) {
        byte[] bytes = new byte[length];
        data.get(at, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
