package io.dyber.zernel.record.journal;

import io.dyber.zernel.format.StoredRows;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.event.Utf8;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.List;

/// The events of the row group being filled, as an uncompressed Arrow IPC stream on disk: what survives a crash and
/// what a live reader follows. One thread appends.
///
/// A batch is written kind by kind, in order of arrival in each: what a kind does not have is then one stretch of its
/// columns, which takes neither time nor room.
public final class Journal implements AutoCloseable {
    private static final long END_OF_STREAM = 0xFFFFFFFFL;

    private final FileChannel file;
    private final List<Column> columns;
    private final StringDictionary texts;
    private final MessageBody message;
    private final Validity validity = new Validity();
    private int[] ids = {};
    private long end;
    private int textsWritten = -1;

    /// Starts the stream in an empty file. `message` is scratch memory, shared by successive journals.
    public Journal(FileChannel file, List<Column> columns, StringDictionary texts, int segment, MessageBody message)
            throws IOException {
        this.file = file;
        this.columns = columns;
        this.texts = texts;
        this.message = message;
        message.clear();
        this.end = message.write(file, 0, (_, _, _, _) -> JournalMessages.schema(columns, segment));
    }

    public long bytes() {
        return end;
    }

    /// Appends new strings and the events. After an exception the journal ends where it did before.
    public void append(Batch batch) throws IOException {
        long before = end;
        int textsBefore = textsWritten;
        try {
            appendTexts();
            appendRows(batch);
        } catch (IOException e) {
            end = before;
            textsWritten = textsBefore;
            file.truncate(before);
            throw e;
        }
    }

    /// Says that no batch follows.
    public void finish() throws IOException {
        ByteBuffer marker = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, END_OF_STREAM);
        file.position(end);
        int _ = file.write(marker);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /// The first dictionary message holds every string so far, also when that is none; the others what came since.
    private void appendTexts() throws IOException {
        int size = texts.size();
        int from = Math.max(textsWritten, 0);
        if (size == textsWritten) {
            return;
        }
        byte[][] strings = new byte[size - from][];
        int total = 0;
        for (int i = 0; i < strings.length; i++) {
            strings[i] = Utf8.of(texts, from + i);
            total += strings[i].length;
        }
        message.clear();
        message.node(strings.length, 0);
        ByteBuffer _ = message.buffer(0);
        putOffsets(strings, message.buffer(4 * (strings.length + 1)));
        ByteBuffer bytes = message.buffer(total);
        for (byte[] string : strings) {
            bytes.put(string);
        }
        boolean isDelta = textsWritten >= 0;
        end = message.write(
                file, end, (nodes, buffers, length, crc) ->
                        JournalMessages.dictionary(nodes, buffers, length, crc, isDelta));
        textsWritten = size;
    }

    private static void putOffsets(byte[][] strings, ByteBuffer target) {
        int offset = 0;
        target.putInt(offset);
        for (byte[] string : strings) {
            offset += string.length;
            target.putInt(offset);
        }
    }

    private void appendRows(Batch batch) throws IOException {
        message.clear();
        for (int c = 0; c < columns.size(); c++) {
            putColumn(batch, c);
        }
        end = message.write(file, end, JournalMessages::batch);
    }

    private void putColumn(Batch batch, int column) {
        int rows = batch.rows();
        int width = columns.get(column).type() == ColumnType.VARCHAR ? Integer.BYTES : Long.BYTES;
        validity.of(batch, column);
        message.node(rows, rows - validity.count());
        if (validity.count() == 0) {
            message.zeros(validity.words() * Long.BYTES);
            message.zeros(rows * width);
            return;
        }
        boolean complete = validity.count() == rows;
        ByteBuffer bits = message.buffer(complete ? 0 : validity.words() * Long.BYTES);
        if (!complete) {
            bits.asLongBuffer().put(validity.bits(), 0, validity.words());
        }
        StoredRows stored = complete ? StoredRows.all(rows, width) : StoredRows.of(bits, rows, width);
        putValues(batch, column, stored, message.buffer(rows * width, stored.from(), stored.to()));
    }

    /// Rows are written kind by kind.
    private void putValues(Batch batch, int column, StoredRows stored, ByteBuffer target) {
        int at = 0;
        for (KindRows kind : batch.kinds()) {
            int from = Math.max(at, stored.firstRow());
            int to = Math.min(at + kind.rows(), stored.endRow());
            if (from < to && kind.has(column)) {
                target.position(from * stored.width() - stored.from());
                putValues(kind.values(column), from - at, to - from, stored.width(), target);
            }
            at += kind.rows();
        }
    }

    private void putValues(long[] values, int from, int count, int width, ByteBuffer target) {
        if (width == Long.BYTES) {
            target.asLongBuffer().put(values, from, count);
            return;
        }
        ids = ids.length < count ? new int[count] : ids;
        for (int i = 0; i < count; i++) {
            ids[i] = (int) values[from + i];
        }
        target.asIntBuffer().put(ids, 0, count);
    }
}
