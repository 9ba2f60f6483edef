package io.dyber.zernel.record.journal;

import io.dyber.zernel.format.JournalFile;
import io.dyber.zernel.format.JournalMessage;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/// Reads a journal back as the batches that were written, up to the first message that is not what was written. A message
/// without a checksum is none of a recorder's.
///
/// Every journal numbers its own strings, so [#texts] belongs to this journal alone.
public final class JournalReader {
    private static final int NO_KIND = -1;

    private final JournalFile journal;
    private final StringDictionary texts = new StringDictionary();
    private final List<Column> columns;
    private final int kindColumn;
    private int[] ids = new int[256];
    private int stringCount;

    private JournalReader(JournalFile journal, List<Column> columns) {
        this.journal = journal;
        this.columns = columns;
        this.kindColumn = columns.stream().map(Column::name).toList().indexOf("kind");
    }

    /// Nothing when not even the schema is whole. The file stays the caller's to close.
    public static Optional<JournalReader> open(FileChannel file) throws IOException {
        JournalFile journal = new JournalFile(file);
        return journal.next().map(first -> new JournalReader(journal, columns(first.schema())));
    }

    public List<Column> columns() {
        return columns;
    }

    public StringDictionary texts() {
        return texts;
    }

    /// The next batch, or nothing at the end of what can be trusted.
    public Optional<Batch> next() throws IOException {
        Optional<JournalMessage> message = journal.next();
        while (message.isPresent() && message.get().checksummed()) {
            if (!message.get().isDictionary()) {
                return Optional.of(batch(message.get()));
            }
            addTexts(message.get());
            message = journal.next();
        }
        return Optional.empty();
    }

    private static List<Column> columns(Schema schema) {
        List<Column> columns = new ArrayList<>();
        for (int f = 0; f < schema.fieldsLength(); f++) {
            Field field = schema.fields(f);
            ColumnType type = field.dictionary() == null ? ColumnType.BIGINT : ColumnType.VARCHAR;
            String unit = field.customMetadataLength() == 0 ? "" : String.valueOf(field.customMetadata(0).value());
            columns.add(new Column(String.valueOf(field.name()), type, unit, ""));
        }
        return List.copyOf(columns);
    }

    private void addTexts(JournalMessage strings) {
        ByteBuffer offsets = strings.buffer(1);
        ByteBuffer bytes = strings.buffer(2);
        for (int i = 0; i < strings.batch().length(); i++) {
            int from = offsets.getInt(4 * i);
            byte[] text = new byte[offsets.getInt(4 * i + 4) - from];
            bytes.get(from, text);
            if (stringCount == ids.length) {
                ids = Arrays.copyOf(ids, ids.length * 2);
            }
            ids[stringCount++] = texts.id(new String(text, StandardCharsets.UTF_8));
        }
    }

    private Batch batch(JournalMessage message) {
        RecordBatch header = message.batch();
        int rows = Math.toIntExact(header.length());
        boolean[] anything = new boolean[columns.size()];
        boolean[] mixed = new boolean[columns.size()];
        ByteBuffer[] validity = new ByteBuffer[columns.size()];
        ByteBuffer[] data = new ByteBuffer[columns.size()];
        for (int c = 0; c < columns.size(); c++) {
            long nulls = header.nodes(c).nullCount();
            anything[c] = nulls < rows;
            mixed[c] = anything[c] && nulls > 0;
            validity[c] = message.buffer(2 * c);
            data[c] = message.buffer(2 * c + 1);
        }
        Batch batch = new Batch(columns, rows);
        for (int row = 0; row < rows; row++) {
            boolean ofKind = kindColumn >= 0 && anything[kindColumn] && isPresent(mixed[kindColumn], validity[kindColumn], row);
            batch.addRow(ofKind ? (int) value(kindColumn, data[kindColumn], row) : NO_KIND);
            for (int c = 0; c < columns.size(); c++) {
                if (anything[c] && isPresent(mixed[c], validity[c], row)) {
                    batch.put(c, value(c, data[c], row));
                }
            }
        }
        return batch;
    }

    private static boolean isPresent(boolean mixed, ByteBuffer validity, int row) {
        return !mixed || (validity.get(row >> 3) & (1 << (row & 7))) != 0;
    }

    private long value(int column, ByteBuffer data, int row) {
        return columns.get(column).type() == ColumnType.BIGINT ? data.getLong(8 * row) : ids[data.getInt(4 * row)];
    }
}
