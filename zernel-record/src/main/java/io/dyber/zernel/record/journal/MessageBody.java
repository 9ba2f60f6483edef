package io.dyber.zernel.record.journal;

import io.dyber.zernel.format.JournalChecksum.Node;
import io.dyber.zernel.format.JournalChecksum.Span;
import io.dyber.zernel.format.JournalChecksum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/// One journal message being put together in native memory, then written at once. Reused message after message.
///
/// Long stretches of zeros (columns without values) become holes of the file instead of bytes.
public final class MessageBody {
    /// Builds the flatbuffer of a finished body.
    interface Metadata {
        ByteBuffer build(List<Node> nodes, List<Span> buffers, long bodyLength, String crc);
    }

    /// Below this a hole costs more calls than it saves bytes.
    private static final int SMALLEST_HOLE = 1 << 14;
    private static final int CONTINUATION = -1;
    private static final int PREFIX = 8;

    /// Memory from `start` to `end` belongs at `offset` of the body.
    private record Run(long offset, int start, int end) {}

    private final List<Node> nodes = new ArrayList<>();
    private final List<Span> buffers = new ArrayList<>();
    private final List<Run> checked = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();
    private ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
    private long length;
    private int runStart;

    /// Starts a message.
    void clear() {
        nodes.clear();
        buffers.clear();
        checked.clear();
        runs.clear();
        memory.clear();
        length = 0;
        runStart = 0;
    }

    void node(long rows, long nulls) {
        nodes.add(new Node(rows, nulls));
    }

    /// The next `size` bytes of the body, to be filled completely before anything else is added.
    ByteBuffer buffer(int size) {
        ByteBuffer slice = buffer(size, 0, JournalChecksum.padded(size));
        return slice.slice(0, size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /// The next `size` bytes of the body, of which those from `from` to `to` are returned to be filled before anything
    /// else is added; the others are zero and stay out of the checksum. Both are multiples of 8.
    ByteBuffer buffer(int size, int from, int to) {
        buffers.add(new Span(length, size));
        skip(from);
        int start = memory.position();
        ByteBuffer slice = take(to - from);
        checked.add(new Run(length - (to - from), start, memory.position()));
        skip(JournalChecksum.padded(size) - to);
        return slice;
    }

    /// The next `size` bytes of the body are zero and stay out of the checksum.
    void zeros(int size) {
        buffers.add(new Span(length, size));
        skip(JournalChecksum.padded(size));
    }

    private void skip(int size) {
        if (size >= SMALLEST_HOLE) {
            endRun();
            length += size;
            return;
        }
        zero(take(size), 0, size);
    }

    /// Writes the message at `position` of the file and returns the position behind it.
    long write(FileChannel file, long position, Metadata metadata) throws IOException {
        endRun();
        ByteBuffer flat = metadata.build(nodes, buffers, length, crc());
        int flatLength = JournalChecksum.padded(flat.remaining());
        ByteBuffer head = ByteBuffer.allocate(PREFIX + flatLength).order(ByteOrder.LITTLE_ENDIAN);
        head.putInt(CONTINUATION).putInt(flatLength).put(flat).rewind();
        long body = position + head.capacity();
        file.position(position);
        if (runs.isEmpty() || runs.getFirst().offset() > 0) {
            writeAll(file, head);
        }
        for (Run run : runs) {
            ByteBuffer bytes = memory.slice(run.start(), run.end() - run.start());
            if (run.offset() == 0) {
                writeAll(file, head, bytes);
            } else {
                file.position(body + run.offset());
                writeAll(file, bytes);
            }
        }
        return endAt(file, body + length);
    }

    /// A hole at the end would leave the file too short.
    private static long endAt(FileChannel file, long end) throws IOException {
        if (file.size() < end) {
            file.position(end - PREFIX);
            writeAll(file, ByteBuffer.allocate(PREFIX));
        }
        return end;
    }

    /// `size` is a multiple of 8; the last word is zero, which pads what does not fill it.
    private ByteBuffer take(int size) {
        if (memory.remaining() < size) {
            grow(size);
        }
        int start = memory.position();
        memory.position(start + size);
        length += size;
        ByteBuffer slice = memory.slice(start, size).order(ByteOrder.LITTLE_ENDIAN);
        zero(slice, Math.max(0, size - Long.BYTES), size);
        return slice;
    }

    private static void zero(ByteBuffer bytes, int from, int to) {
        for (int at = from; at < to; at += Long.BYTES) {
            bytes.putLong(at, 0);
        }
    }

    private void grow(int needed) {
        ByteBuffer larger =
                ByteBuffer.allocateDirect(Math.max(memory.capacity() * 2, memory.position() + needed));
        memory.flip();
        memory = larger.put(memory);
    }

    private void endRun() {
        int end = memory.position();
        if (end > runStart) {
            runs.add(new Run(length - (end - runStart), runStart, end));
        }
        runStart = end;
    }

    private String crc() {
        CRC32C crc = new CRC32C();
        for (Run part : checked) {
            crc.update(memory.slice(part.start(), part.end() - part.start()));
        }
        return JournalChecksum.of(crc, nodes, buffers);
    }

    private static void writeAll(FileChannel file, ByteBuffer... parts) throws IOException {
        ByteBuffer last = parts[parts.length - 1];
        while (last.hasRemaining()) {
            long _ = file.write(parts);
        }
    }
}
