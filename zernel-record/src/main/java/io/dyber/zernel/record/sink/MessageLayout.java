package io.dyber.zernel.record.sink;

import org.apache.arrow.flatbuf.RecordBatch;

/// What a journal's message says about its body, checked before anything is done with it: no number in a damaged or
/// forged file may make a reader allocate, loop or reach beyond what the file holds.
final class MessageLayout {
    /// Far above what a recorder writes.
    static final int MOST_COLUMNS = 4096;

    private static final long MOST_CELLS = 1 << 25;
    private static final int MOST_BUFFERS_PER_COLUMN = 3;

    private MessageLayout() {}

    /// Whether a body of `length` bytes can be what the header says: buffers inside it that do not overlap, and no more
    /// rows than they could hold.
    static boolean fits(RecordBatch header, int length) {
        long rows = header.length();
        int columns = header.nodesLength();
        if (columns < 1 || columns > MOST_COLUMNS || header.buffersLength() > MOST_BUFFERS_PER_COLUMN * columns) {
            return false;
        }
        if (rows < 0 || rows > length || rows * columns > MOST_CELLS) {
            return false;
        }
        for (int n = 0; n < columns; n++) {
            if (header.nodes(n).length() != rows) {
                return false;
            }
        }
        long end = 0;
        for (int b = 0; b < header.buffersLength(); b++) {
            long from = header.buffers(b).offset();
            long size = header.buffers(b).length();
            if (from < end || size < 0 || from > length - size) {
                return false;
            }
            end = from + size;
        }
        return true;
    }
}
