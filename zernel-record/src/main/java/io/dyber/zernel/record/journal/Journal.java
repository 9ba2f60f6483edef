package io.dyber.zernel.record.journal;

import io.dyber.zernel.format.BatchMessage;
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

/// The events of the row group being filled, as an Arrow IPC stream on disk: what survives a crash and what a live reader
/// follows. One thread appends.
///
/// A batch is written kind by kind, in order of arrival in each: what a kind does not have is then one stretch of its
/// columns, which takes neither time nor room, and what it has differs little from row to row ([ZstdFrames]).
public final class Journal implements AutoCloseable {
    private static final long END_OF_STREAM = 0xFFFFFFFFL;

    private final FileChannel file;
    private final List<Column> columns;
    private final StringDictionary texts;
    private final MessageBody message;
    private final Validity validity = new Validity();
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
        for (int i = 0; i < strings.length; i++) {
            strings[i] = Utf8.of(texts, from + i);
        }
        message.clear();
        message.node(strings.length, 0);
        message.nothing();
        putOffsets(strings, message.buffer());
        message.endBuffer();
        ZstdFrames bytes = message.buffer();
        for (byte[] string : strings) {
            bytes.plain(string);
        }
        message.endBuffer();
        boolean isDelta = textsWritten >= 0;
        end = message.write(
                file, end, (nodes, buffers, length, crc) ->
                        BatchMessage.dictionary(nodes, buffers, length, crc, isDelta));
        textsWritten = size;
    }

    private static void putOffsets(byte[][] strings, ZstdFrames target) {
        int offset = 0;
        target.plain(offset);
        for (byte[] string : strings) {
            offset += string.length;
            target.plain(offset);
        }
    }

    private void appendRows(Batch batch) throws IOException {
        message.clear();
        for (int c = 0; c < columns.size(); c++) {
            putColumn(batch, c);
        }
        message.extend(batch.rows());
        end = message.write(
                file, end, (nodes, buffers, length, crc) -> BatchMessage.rows(nodes, buffers, length, crc, true));
    }

    /// Rows are written kind by kind.
    private void putColumn(Batch batch, int column) {
        int rows = batch.rows();
        int width = columns.get(column).type() == ColumnType.VARCHAR ? Integer.BYTES : Long.BYTES;
        validity.of(batch, column);
        message.node(rows, rows - validity.count());
        if (validity.count() == rows) {
            message.nothing();
        } else {
            ZstdFrames bits = message.buffer();
            bits.begin(validity.words() * Long.BYTES);
            bits.words(validity.bits(), validity.words());
            bits.end();
            message.endBuffer();
        }
        ZstdFrames values = message.buffer();
        values.begin(rows * width);
        for (KindRows kind : batch.kinds()) {
            if (kind.rows() > 0 && kind.has(column)) {
                values.values(kind.values(column), 0, kind.rows(), width);
            } else {
                values.zeros(kind.rows() * width);
            }
        }
        values.end();
        message.endBuffer();
    }
}
