package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.ColumnType;
import io.dyber.zernel.record.event.Texts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.channels.FileChannel;
import java.util.List;

/// The events of the row group being filled, as an uncompressed Arrow IPC stream on disk: what survives a crash and
/// what a live reader follows. One thread appends.
final class Journal implements AutoCloseable {
    private static final long END_OF_STREAM = 0xFFFFFFFFL;

    private final FileChannel file;
    private final List<Column> columns;
    private final Texts texts;
    private final MessageBody message;
    private long end;
    private int textsWritten = -1;

    /// Starts the stream in an empty file. `message` is scratch memory, shared by successive journals.
    Journal(FileChannel file, List<Column> columns, Texts texts, int segment, MessageBody message)
            throws IOException {
        this.file = file;
        this.columns = columns;
        this.texts = texts;
        this.message = message;
        message.clear();
        this.end = message.write(file, 0, (_, _, _, _) -> JournalMessages.schema(columns, segment));
    }

    long bytes() {
        return end;
    }

    /// Appends new strings and the events. After an exception the journal ends where it did before.
    void append(Batch batch) throws IOException {
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
    void finish() throws IOException {
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
        int words = (rows + 63) / 64;
        boolean text = columns.get(column).type() == ColumnType.VARCHAR;
        int dataSize = rows * (text ? Integer.BYTES : Long.BYTES);
        int present = 0;
        for (int w = 0; w < words; w++) {
            present += Long.bitCount(batch.present(column)[w]);
        }
        message.node(rows, rows - present);
        if (present == 0) {
            message.zeros(words * Long.BYTES);
            message.zeros(dataSize);
            return;
        }
        ByteBuffer validity = message.buffer(present == rows ? 0 : words * Long.BYTES);
        if (present < rows) {
            validity.asLongBuffer().put(batch.present(column), 0, words);
        }
        ByteBuffer data = message.buffer(dataSize);
        if (text) {
            putIds(batch.values(column), rows, data.asIntBuffer());
        } else {
            data.asLongBuffer().put(batch.values(column), 0, rows);
        }
    }

    private static void putIds(long[] values, int rows, IntBuffer target) {
        for (int row = 0; row < rows; row++) {
            target.put((int) values[row]);
        }
    }
}
