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

/// One journal message being put together in memory, then written at once. Reused message after message.
public final class MessageBody {
    /// Builds the flatbuffer of a finished body.
    interface Metadata {
        ByteBuffer build(List<Node> nodes, List<Span> buffers, long bodyLength, String crc);
    }

    private static final int CONTINUATION = -1;
    private static final int PREFIX = 8;

    private final List<Node> nodes = new ArrayList<>();
    private final List<Span> buffers = new ArrayList<>();
    private final ZstdFrames body = new ZstdFrames();
    private int begin;

    /// Starts a message.
    void clear() {
        nodes.clear();
        buffers.clear();
        body.clear();
    }

    void node(long rows, long nulls) {
        nodes.add(new Node(rows, nulls));
    }

    /// The next buffer has nothing.
    void nothing() {
        buffers.add(new Span(body.size(), 0));
    }

    /// Begins the next buffer, which is filled before anything else is added.
    ZstdFrames buffer() {
        begin = body.size();
        return body;
    }

    void endBuffer() {
        buffers.add(new Span(begin, body.size() - begin));
        body.pad(0);
    }

    /// Makes the body so many bytes long at least: readers believe a batch no more rows than it has bytes.
    void extend(int length) {
        body.pad(length);
    }

    /// Writes the message at `position` of the file and returns the position behind it.
    long write(FileChannel file, long position, Metadata metadata) throws IOException {
        ByteBuffer flat = metadata.build(nodes, buffers, body.size(), crc());
        int flatLength = JournalChecksum.padded(flat.remaining());
        ByteBuffer head = ByteBuffer.allocate(PREFIX + flatLength).order(ByteOrder.LITTLE_ENDIAN);
        head.putInt(CONTINUATION).putInt(flatLength).put(flat).rewind();
        ByteBuffer[] parts = {head, ByteBuffer.wrap(body.bytes(), 0, body.size())};
        file.position(position);
        while (parts[0].hasRemaining() || parts[1].hasRemaining()) {
            long _ = file.write(parts);
        }
        return position + head.capacity() + body.size();
    }

    private String crc() {
        CRC32C crc = new CRC32C();
        crc.update(body.bytes(), 0, body.size());
        return JournalChecksum.of(crc, nodes, buffers);
    }
}
