package io.dyber.zernel.record.sink;

import com.google.flatbuffers.Table;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.ColumnType;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.sink.JournalMessages.Node;
import io.dyber.zernel.record.sink.JournalMessages.Span;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/// Reads a journal back, up to the first message that is not whole: cut off, or torn by a power loss.
///
/// Every journal numbers its strings anew, so [#texts] belongs to this journal alone.
final class JournalReader {
    private static final int PREFIX = 8;
    private static final int LARGEST_METADATA = 1 << 24;
    private static final int LARGEST_BODY = 1 << 28;
    private static final int NO_KIND = -1;

    private final FileChannel file;
    private final Texts texts = new Texts();
    private final List<Column> columns;
    private final int kindColumn;
    private int[] ids = new int[256];
    private int stringCount;
    private long position;
    private boolean ended;

    /// A message whose bytes are all there.
    private record Whole(Message message, ByteBuffer body, long end) {}

    private JournalReader(FileChannel file, List<Column> columns, long position) {
        this.file = file;
        this.columns = columns;
        this.kindColumn = columns.stream().map(Column::name).toList().indexOf("kind");
        this.position = position;
    }

    /// Nothing when not even the schema is whole. The file stays the caller's to close.
    static Optional<JournalReader> open(FileChannel file) throws IOException {
        Optional<Whole> first = whole(file, 0);
        if (first.isEmpty() || first.get().message().headerType() != MessageHeader.Schema) {
            return Optional.empty();
        }
        try {
            List<Column> columns = columns(header(first.get().message(), new Schema()));
            return Optional.of(new JournalReader(file, columns, first.get().end()));
        } catch (RuntimeException _) {
            return Optional.empty();
        }
    }

    List<Column> columns() {
        return columns;
    }

    Texts texts() {
        return texts;
    }

    /// The next batch, or nothing at the end of what can be trusted.
    Optional<Batch> next() throws IOException {
        while (!ended) {
            Optional<Batch> batch = step();
            if (batch.isPresent()) {
                return batch;
            }
        }
        return Optional.empty();
    }

    private Optional<Batch> step() throws IOException {
        Optional<Whole> next = whole(file, position);
        ended = next.isEmpty();
        if (ended) {
            return Optional.empty();
        }
        Whole whole = next.get();
        position = whole.end();
        try {
            if (whole.message().headerType() == MessageHeader.DictionaryBatch) {
                addTexts(whole);
                return Optional.empty();
            }
            return Optional.of(batch(whole));
        } catch (RuntimeException _) {
            // Metadata carries no checksum of its own; nonsense in it surfaces here.
            ended = true;
            return Optional.empty();
        }
    }

    private static Optional<Whole> whole(FileChannel file, long position) throws IOException {
        ByteBuffer prefix = read(file, position, PREFIX);
        if (prefix.remaining() < PREFIX || prefix.getInt(0) != -1) {
            return Optional.empty();
        }
        int length = prefix.getInt(4);
        if (length <= 0 || length > LARGEST_METADATA) {
            return Optional.empty();
        }
        ByteBuffer metadata = read(file, position + PREFIX, length);
        if (metadata.remaining() < length) {
            return Optional.empty();
        }
        return body(file, metadata, position + PREFIX + length);
    }

    private static Optional<Whole> body(FileChannel file, ByteBuffer metadata, long from) throws IOException {
        try {
            Message message = Message.getRootAsMessage(metadata);
            long length = message.bodyLength();
            boolean isSchema = message.headerType() == MessageHeader.Schema;
            if (length < 0 || length > LARGEST_BODY || from + length > file.size()) {
                return Optional.empty();
            }
            if (!isSchema && !MessageLayout.fits(recordBatch(message), (int) length)) {
                return Optional.empty();
            }
            ByteBuffer body = read(file, from, (int) length);
            Whole whole = new Whole(message, body, from + length);
            return isSchema || crc(whole).equals(storedCrc(message)) ? Optional.of(whole) : Optional.empty();
        } catch (RuntimeException _) {
            return Optional.empty();
        }
    }

    private static ByteBuffer read(FileChannel file, long from, int length) throws IOException {
        int there = Math.clamp(file.size() - from, 0, length);
        ByteBuffer bytes = ByteBuffer.allocate(there).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining() && file.read(bytes, from + bytes.position()) >= 0) {
            // until all of it is here
        }
        return bytes.flip();
    }

    private static String crc(Whole whole) {
        RecordBatch batch = recordBatch(whole.message());
        CRC32C crc = new CRC32C();
        List<Node> nodes = new ArrayList<>();
        for (int n = 0; n < batch.nodesLength(); n++) {
            nodes.add(new Node(batch.nodes(n).length(), batch.nodes(n).nullCount()));
        }
        List<Span> buffers = new ArrayList<>();
        int buffersPerNode = batch.buffersLength() / nodes.size();
        for (int b = 0; b < batch.buffersLength(); b++) {
            Span span = new Span(batch.buffers(b).offset(), batch.buffers(b).length());
            buffers.add(span);
            Node node = nodes.get(b / buffersPerNode);
            boolean isValues = b % buffersPerNode == 1 && node.nulls() > 0;
            if (node.nulls() < node.rows() && isValues) {
                int width = (int) (span.length() / node.rows());
                StoredRows stored = StoredRows.of(slice(whole, batch.buffers(b - 1)), (int) node.rows(), width);
                crc.update(whole.body().slice((int) span.offset() + stored.from(), stored.to() - stored.from()));
            } else if (node.nulls() < node.rows() || node.rows() == 0) {
                crc.update(whole.body().slice((int) span.offset(), MessageBody.padded((int) span.length())));
            }
        }
        return JournalMessages.checksum(crc, nodes, buffers);
    }

    private static RecordBatch recordBatch(Message message) {
        if (message.headerType() == MessageHeader.DictionaryBatch) {
            return header(message, new DictionaryBatch()).data();
        }
        return header(message, new RecordBatch());
    }

    private static <T extends Table> T header(Message message, T header) {
        message.header(header);
        return header;
    }

    private static String storedCrc(Message message) {
        for (int i = 0; i < message.customMetadataLength(); i++) {
            KeyValue entry = message.customMetadata(i);
            if (JournalMessages.CRC.equals(entry.key())) {
                return String.valueOf(entry.value());
            }
        }
        return "";
    }

    private static List<Column> columns(Schema schema) {
        List<Column> columns = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int f = 0; f < Objects.checkIndex(schema.fieldsLength(), MessageLayout.MOST_COLUMNS); f++) {
            Field field = schema.fields(f);
            ColumnType type = field.dictionary() == null ? ColumnType.BIGINT : ColumnType.VARCHAR;
            String unit = field.customMetadataLength() == 0 ? "" : String.valueOf(field.customMetadata(0).value());
            columns.add(new Column(String.valueOf(field.name()), type, unit, ""));
            if (!names.add(columns.getLast().name())) {
                throw new IllegalArgumentException("two columns '" + columns.getLast().name() + "'");
            }
        }
        return List.copyOf(columns);
    }

    private void addTexts(Whole whole) {
        RecordBatch strings = recordBatch(whole.message());
        ByteBuffer offsets = slice(whole, strings.buffers(1));
        ByteBuffer bytes = slice(whole, strings.buffers(2));
        for (int i = 0; i < strings.length(); i++) {
            int from = offsets.getInt(4 * i);
            int to = offsets.getInt(4 * i + 4);
            byte[] text = new byte[to - Objects.checkFromToIndex(from, to, bytes.capacity())];
            bytes.get(from, text);
            if (stringCount == ids.length) {
                ids = Arrays.copyOf(ids, ids.length * 2);
            }
            ids[stringCount++] = texts.id(new String(text, StandardCharsets.UTF_8));
        }
    }

    private Batch batch(Whole whole) {
        RecordBatch header = recordBatch(whole.message());
        int rows = Math.toIntExact(header.length());
        boolean[] anything = new boolean[columns.size()];
        ByteBuffer[] validity = new ByteBuffer[columns.size()];
        ByteBuffer[] data = new ByteBuffer[columns.size()];
        for (int c = 0; c < columns.size(); c++) {
            anything[c] = header.nodes(c).nullCount() < rows;
            validity[c] = slice(whole, header.buffers(2 * c));
            data[c] = slice(whole, header.buffers(2 * c + 1));
        }
        Batch batch = new Batch(columns, rows);
        for (int row = 0; row < rows; row++) {
            boolean ofKind = kindColumn >= 0 && anything[kindColumn] && isPresent(validity[kindColumn], row);
            batch.addRow(ofKind ? (int) value(kindColumn, data[kindColumn], row) : NO_KIND);
            for (int c = 0; c < columns.size(); c++) {
                if (anything[c] && isPresent(validity[c], row)) {
                    batch.put(c, value(c, data[c], row));
                }
            }
        }
        return batch;
    }

    private static boolean isPresent(ByteBuffer validity, int row) {
        return validity.capacity() == 0 || (validity.get(row >> 3) & (1 << (row & 7))) != 0;
    }

    private long value(int column, ByteBuffer data, int row) {
        if (columns.get(column).type() == ColumnType.BIGINT) {
            return data.getLong(8 * row);
        }
        int id = data.getInt(4 * row);
        if (id < 0 || id >= stringCount) {
            throw new IllegalArgumentException("string " + id + " of " + stringCount);
        }
        return ids[id];
    }

    private static ByteBuffer slice(Whole whole, Buffer buffer) {
        return whole.body()
                .slice((int) buffer.offset(), (int) buffer.length())
                .order(ByteOrder.LITTLE_ENDIAN);
    }
}
