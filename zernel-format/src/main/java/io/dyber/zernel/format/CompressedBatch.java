package io.dyber.zernel.format;

import io.dyber.zernel.format.JournalChecksum.Node;
import io.dyber.zernel.format.JournalChecksum.Span;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/// A record batch whose buffers are ZSTD frames, made one whose buffers are plain. Recorders write the former; to readers of
/// rows there are only the latter, as older recorders wrote them.
final class CompressedBatch {
    private static final int PREFIX = 8;

    private final RecordBatch batch;
    private final ByteBuffer body;

    private CompressedBatch(JournalMessage message) {
        this.batch = message.batch();
        this.body = message.body();
    }

    /// Whether it is compressed in the way that we read.
    static boolean isOne(@Nullable RecordBatch batch) {
        return batch != null && batch.compression() != null && batch.compression().codec() == CompressionType.ZSTD;
    }

    /// The same rows, plain.
    ///
    /// @param message compressed, its buffers inside its body
    /// @param widths bytes of a value of each column
    /// @throws RuntimeException when a buffer is not what a column of so many rows has
    static JournalMessage plain(JournalMessage message, List<Integer> widths) {
        return new CompressedBatch(message).expanded(widths, message.checksummed());
    }

    private JournalMessage expanded(List<Integer> widths, boolean checksummed) {
        List<Node> nodes = new ArrayList<>();
        List<Span> spans = new ArrayList<>();
        int rows = (int) batch.length();
        long length = 0;
        for (int b = 0; b < batch.buffersLength(); b++) {
            int expected = b % 2 == 0 ? (rows + 63) / 64 * Long.BYTES : rows * widths.get(b / 2);
            long size = size(b);
            if (size != expected && (size != 0 || b % 2 == 1)) {
                throw new IllegalArgumentException("a buffer of " + size + " bytes, not " + expected);
            }
            spans.add(new Span(length, size));
            length += JournalChecksum.padded((int) size);
        }
        for (int n = 0; n < batch.nodesLength(); n++) {
            nodes.add(new Node(batch.nodes(n).length(), batch.nodes(n).nullCount()));
        }
        ByteBuffer metadata = BatchMessage.rows(nodes, spans, length, "", false);
        int head = PREFIX + JournalChecksum.padded(metadata.remaining());
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(head + length)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(-1).putInt(head - PREFIX).put(metadata).rewind();
        for (int b = 0; b < spans.size(); b++) {
            if (spans.get(b).length() > 0) {
                decode(b, bytes.array(), head + (int) spans.get(b).offset(), (int) spans.get(b).length());
            }
        }
        Message header = Message.getRootAsMessage(bytes.slice(PREFIX, head - PREFIX).order(ByteOrder.LITTLE_ENDIAN));
        return new JournalMessage(header, bytes.slice(head, (int) length).order(ByteOrder.LITTLE_ENDIAN), bytes, checksummed);
    }

    /// Of a buffer as it was; it begins with that.
    private long size(int buffer) {
        return batch.buffers(buffer).length() == 0 ? 0 : body.getLong((int) batch.buffers(buffer).offset());
    }

    private void decode(int buffer, byte[] target, int from, int length) {
        int start = body.arrayOffset() + (int) batch.buffers(buffer).offset() + Long.BYTES;
        int size = (int) batch.buffers(buffer).length() - Long.BYTES;
        ZstdFrame.decode(body.array(), start, size, target, from, length);
    }
}
