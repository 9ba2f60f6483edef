package io.dyber.zernel.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.jspecify.annotations.Nullable;

/// Whether a journal's messages are what a recorder writes: BIGINT columns, and VARCHAR columns that share one
/// dictionary, in buffers that hold all they are said to hold, and, where there is a checksum, the bytes that were written.
/// No number in a damaged or forged file may make a reader allocate, loop or reach beyond what the file holds; compressed rows
/// become as many as the message has bytes, at most.
final class JournalCheck {
    private static final int LARGEST_BODY = 1 << 28;
    /// Far above what a recorder writes.
    private static final int MOST_COLUMNS = 4096;
    private static final long MOST_CELLS = 1 << 25;

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

    /// The message, when it is sound and its checksum, if it has one, is right. Takes the messages in their order, of which
    /// the schema is the first.
    Optional<JournalMessage> checked(Message header, ByteBuffer body, ByteBuffer bytes) {
        try {
            String stored = JournalChecksum.stored(header);
            JournalMessage message = new JournalMessage(header, body, bytes, !stored.isEmpty());
            if (header.headerType() == MessageHeader.RecordBatch && CompressedBatch.isOne(message.batch())) {
                return expanded(message, stored);
            }
            boolean sound = switch (header.headerType()) {
                case MessageHeader.Schema -> widths.isEmpty() && isSound(message.schema());
                case MessageHeader.DictionaryBatch -> isDictionary(message);
                case MessageHeader.RecordBatch -> isBatch(message);
                default -> false;
            };
            boolean right = message.isSchema() || stored.isEmpty() || (sound && stored.equals(JournalChecksum.of(message)));
            return sound && right ? Optional.of(message) : Optional.empty();
        } catch (RuntimeException _) {
            // Flatbuffers are read as they are; nonsense in them surfaces here.
            return Optional.empty();
        }
    }

    private Optional<JournalMessage> expanded(JournalMessage message, String stored) {
        RecordBatch batch = message.batch();
        int columns = widths.size();
        boolean sound = columns > 0
                && batch.length() <= message.body().capacity()
                && hasParts(batch, columns, 2 * columns, message.body())
                && (stored.isEmpty() || stored.equals(JournalChecksum.ofCompressed(message)));
        return sound
                ? Optional.of(CompressedBatch.plain(message, widths)).filter(this::isBatch)
                : Optional.empty();
    }

    private boolean isSound(Schema schema) {
        if (schema.fieldsLength() < 1 || schema.fieldsLength() > MOST_COLUMNS) {
            return false;
        }
        Set<String> names = new HashSet<>();
        for (int f = 0; f < schema.fieldsLength(); f++) {
            Field field = schema.fields(f);
            boolean text = field.typeType() == Type.Utf8;
            boolean named = field.name() != null && names.add(field.name());
            for (int m = 0; m < field.customMetadataLength(); m++) {
                named &= isText(field.customMetadata(m));
            }
            if (!named || field.childrenLength() > 0 || !(text ? isText(field) : isNumber(field))) {
                return false;
            }
            widths.add(text ? Integer.BYTES : Long.BYTES);
        }
        for (int m = 0; m < schema.customMetadataLength(); m++) {
            if (!isText(schema.customMetadata(m))) {
                return false;
            }
        }
        return true;
    }

    /// Reading a text that is not inside the message throws.
    private static boolean isText(KeyValue metadata) {
        return metadata.key() != null && metadata.value() != null;
    }

    private static boolean isNumber(Field field) {
        return field.typeType() == Type.Int && field.dictionary() == null && isInt((Int) field.type(new Int()), 64);
    }

    private static boolean isText(Field field) {
        DictionaryEncoding encoding = field.dictionary();
        return encoding != null && encoding.id() == JournalFile.DICTIONARY_ID && isInt(encoding.indexType(), 32);
    }

    private static boolean isInt(@Nullable Int type, int bits) {
        return type != null && type.isSigned() && type.bitWidth() == bits;
    }

    private boolean isDictionary(JournalMessage message) {
        RecordBatch batch = message.batch();
        boolean known = !widths.isEmpty()
                && message.dictionary().id() == JournalFile.DICTIONARY_ID
                && batch.compression() == null
                && batch.length() <= message.body().capacity() / Integer.BYTES;
        if (!known || !hasParts(batch, 1, 3, message.body()) || batch.nodes(0).nullCount() != 0) {
            return false;
        }
        int count = (int) batch.length();
        ByteBuffer offsets = message.buffer(1);
        ByteBuffer bytes = message.buffer(2);
        for (int i = 0; i < count; i++) {
            int from = offsets.getInt(4 * i);
            int end = offsets.getInt(4 * i + 4);
            if (from < 0 || end < from || end > bytes.capacity() || !isUtf8(bytes.slice(from, end - from))) {
                return false;
            }
        }
        strings = message.dictionary().isDelta() ? strings + count : count;
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

    private boolean isBatch(JournalMessage message) {
        RecordBatch batch = message.batch();
        int columns = widths.size();
        boolean fits = batch.length() <= message.body().capacity() / Integer.BYTES;
        if (columns == 0 || !fits || !hasParts(batch, columns, 2 * columns, message.body())) {
            return false;
        }
        for (int c = 0; c < columns; c++) {
            long nulls = batch.nodes(c).nullCount();
            if (!isSound(nulls, (int) batch.length(), widths.get(c), message.buffer(2 * c), message.buffer(2 * c + 1))) {
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
        if (batch.variadicBufferCountsLength() != 0 || batch.nodesLength() != columns || batch.buffersLength() != buffers) {
            return false;
        }
        if (rows < 0 || rows > MOST_CELLS || rows * columns > MOST_CELLS) {
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
}
