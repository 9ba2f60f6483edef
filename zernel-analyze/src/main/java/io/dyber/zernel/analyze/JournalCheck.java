package io.dyber.zernel.analyze;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.jspecify.annotations.Nullable;

/// Whether a journal's messages are what a recorder writes: BIGINT columns, and VARCHAR columns that share one
/// dictionary, in buffers that hold all they are said to hold.
final class JournalCheck {
    private static final int LARGEST_BODY = 1 << 28;
    private static final int MOST_COLUMNS = 4096;

    /// Bytes of a value of each column, of a dictionary's index for VARCHAR; empty before the schema.
    private final List<Integer> widths = new ArrayList<>();
    private long strings;

    /// What the metadata says is the length of the body; -1 when that is nonsense.
    static int bodyLength(ByteBuffer metadata) {
        try {
            long length = Message.getRootAsMessage(metadata.order(ByteOrder.LITTLE_ENDIAN)).bodyLength();
            return length < 0 || length > LARGEST_BODY || length % Long.BYTES != 0 ? -1 : (int) length;
        } catch (RuntimeException _) {
            return -1;
        }
    }

    /// Takes the messages in their order.
    boolean isSound(ByteBuffer metadata, ByteBuffer body) {
        try {
            Message message = Message.getRootAsMessage(metadata);
            return switch (message.headerType()) {
                case MessageHeader.Schema -> widths.isEmpty() && isSound((Schema) message.header(new Schema()));
                case MessageHeader.DictionaryBatch ->
                        isSound((DictionaryBatch) message.header(new DictionaryBatch()), body);
                case MessageHeader.RecordBatch -> isSound((RecordBatch) message.header(new RecordBatch()), body);
                default -> false;
            };
        } catch (RuntimeException _) {
            // Flatbuffers are read as they are; nonsense in them surfaces here.
            return false;
        }
    }

    private boolean isSound(@Nullable Schema schema) {
        if (schema == null || schema.fieldsLength() < 1 || schema.fieldsLength() > MOST_COLUMNS) {
            return false;
        }
        for (int f = 0; f < schema.fieldsLength(); f++) {
            Field field = schema.fields(f);
            boolean text = field.typeType() == Type.Utf8;
            if (field.name() == null || field.childrenLength() > 0 || !(text ? isText(field) : isNumber(field))) {
                return false;
            }
            widths.add(text ? Integer.BYTES : Long.BYTES);
        }
        return true;
    }

    private static boolean isNumber(Field field) {
        return field.typeType() == Type.Int && field.dictionary() == null && isInt((Int) field.type(new Int()), 64);
    }

    private static boolean isText(Field field) {
        DictionaryEncoding encoding = field.dictionary();
        return encoding != null && encoding.id() == 1 && isInt(encoding.indexType(), 32);
    }

    private static boolean isInt(@Nullable Int type, int bits) {
        return type != null && type.isSigned() && type.bitWidth() == bits;
    }

    private boolean isSound(@Nullable DictionaryBatch dictionary, ByteBuffer body) {
        if (dictionary == null || dictionary.id() != 1) {
            return false;
        }
        RecordBatch batch = dictionary.data();
        if (batch == null || !hasParts(batch, 1, 3, body) || batch.nodes(0).nullCount() != 0) {
            return false;
        }
        int count = (int) batch.length();
        ByteBuffer offsets = slice(body, batch.buffers(1));
        ByteBuffer bytes = slice(body, batch.buffers(2));
        int end = 0;
        for (int i = 0; i < count; i++) {
            int from = offsets.getInt(4 * i);
            end = offsets.getInt(4 * i + 4);
            if (from < 0 || end < from || end > bytes.capacity() || !isUtf8(bytes.slice(from, end - from))) {
                return false;
            }
        }
        strings = dictionary.isDelta() ? strings + count : count;
        return true;
    }

    private static boolean isUtf8(ByteBuffer text) {
        try {
            CharBuffer _ = StandardCharsets.UTF_8.newDecoder().decode(text);
            return true;
        } catch (CharacterCodingException _) {
            return false;
        }
    }

    private boolean isSound(@Nullable RecordBatch batch, ByteBuffer body) {
        int columns = widths.size();
        if (batch == null || columns == 0 || !hasParts(batch, columns, 2 * columns, body)) {
            return false;
        }
        for (int c = 0; c < columns; c++) {
            ByteBuffer validity = slice(body, batch.buffers(2 * c));
            ByteBuffer data = slice(body, batch.buffers(2 * c + 1));
            if (!isSound(batch.nodes(c).nullCount(), (int) batch.length(), widths.get(c), validity, data)) {
                return false;
            }
        }
        return true;
    }

    private boolean isSound(long nulls, int rows, int width, ByteBuffer validity, ByteBuffer data) {
        boolean mixed = nulls > 0 && nulls < rows;
        boolean masked = !mixed || validity.capacity() >= (rows + 7) / 8;
        if (nulls < 0 || nulls > rows || data.capacity() < width * rows || !masked) {
            return false;
        }
        if (width == Long.BYTES || nulls == rows) {
            return true;
        }
        for (int row = 0; row < rows; row++) {
            boolean present = !mixed || (validity.get(row >> 3) & (1 << (row & 7))) != 0;
            if (present && (data.getInt(4 * row) < 0 || data.getInt(4 * row) >= strings)) {
                return false;
            }
        }
        return true;
    }

    /// Whether the batch has so many columns and buffers, and these lie in the body one behind the other.
    private static boolean hasParts(RecordBatch batch, int columns, int buffers, ByteBuffer body) {
        long rows = batch.length();
        boolean plain = batch.compression() == null && batch.variadicBufferCountsLength() == 0;
        if (!plain || batch.nodesLength() != columns || batch.buffersLength() != buffers) {
            return false;
        }
        if (rows < 0 || rows > body.capacity() / Integer.BYTES) {
            return false;
        }
        for (int n = 0; n < columns; n++) {
            if (batch.nodes(n).length() != rows) {
                return false;
            }
        }
        long end = 0;
        for (int b = 0; b < buffers; b++) {
            long from = batch.buffers(b).offset();
            long length = batch.buffers(b).length();
            if (from < end || from % Long.BYTES != 0 || length < 0 || length > body.capacity() - from) {
                return false;
            }
            end = from + length;
        }
        return true;
    }

    private static ByteBuffer slice(ByteBuffer body, Buffer buffer) {
        return body.slice((int) buffer.offset(), (int) buffer.length()).order(ByteOrder.LITTLE_ENDIAN);
    }
}
