package io.dyber.zernel.format;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.RecordBatch;

/// The checksum of a message of a journal, as the recorder writes it and readers compute it again: CRC-32C, in
/// hexadecimal, of the body and of the layout. In a body that is not compressed, columns without values, and values outside
/// [StoredRows], are left out: they are zero, and often holes of the file.
public final class JournalChecksum {
    /// The key of a message's metadata.
    public static final String KEY = "zernel.crc32c";

    /// Where one column's data lies in a message body.
    ///
    /// @param nulls rows without a value
    public record Node(long rows, long nulls) {}

    /// A buffer of a message body.
    public record Span(long offset, long length) {}

    private JournalChecksum() {}

    /// Finishes a checksum of a body with what the metadata says about it.
    public static String of(CRC32C body, List<Node> nodes, List<Span> buffers) {
        ByteBuffer layout = ByteBuffer.allocate(16 * (nodes.size() + buffers.size()));
        nodes.forEach(node -> layout.putLong(node.rows()).putLong(node.nulls()));
        buffers.forEach(span -> layout.putLong(span.offset()).putLong(span.length()));
        body.update(layout.flip());
        return "%08x".formatted(body.getValue());
    }

    /// What a buffer of so many bytes takes in a body.
    public static int padded(int size) {
        return (size + 7) & ~7;
    }

    private static List<Node> nodes(RecordBatch batch) {
        List<Node> nodes = new ArrayList<>();
        for (int n = 0; n < batch.nodesLength(); n++) {
            nodes.add(new Node(batch.nodes(n).length(), batch.nodes(n).nullCount()));
        }
        return nodes;
    }

    /// Of a message whose buffers are compressed: of its body as it is.
    static String ofCompressed(JournalMessage message) {
        RecordBatch batch = message.batch();
        List<Span> buffers = new ArrayList<>();
        for (int b = 0; b < batch.buffersLength(); b++) {
            buffers.add(new Span(batch.buffers(b).offset(), batch.buffers(b).length()));
        }
        CRC32C crc = new CRC32C();
        crc.update(message.body().duplicate());
        return of(crc, nodes(batch), buffers);
    }

    /// Of a message whose layout is sound.
    static String of(JournalMessage message) {
        RecordBatch batch = message.batch();
        List<Node> nodes = nodes(batch);
        CRC32C crc = new CRC32C();
        List<Span> buffers = new ArrayList<>();
        int buffersPerNode = batch.buffersLength() / nodes.size();
        for (int b = 0; b < batch.buffersLength(); b++) {
            Span span = new Span(batch.buffers(b).offset(), batch.buffers(b).length());
            buffers.add(span);
            Node node = nodes.get(b / buffersPerNode);
            boolean values = b % buffersPerNode == 1;
            if (values && node.nulls() > 0 && node.nulls() < node.rows()) {
                int width = (int) (span.length() / node.rows());
                StoredRows stored = StoredRows.of(message.buffer(b - 1), (int) node.rows(), width);
                crc.update(message.body().slice((int) span.offset() + stored.from(), stored.to() - stored.from()));
            } else if (node.nulls() < node.rows() || node.rows() == 0) {
                crc.update(message.body().slice((int) span.offset(), padded((int) span.length())));
            }
        }
        return of(crc, nodes, buffers);
    }

    /// What the message says; empty when it has none.
    static String stored(Message message) {
        for (int i = 0; i < message.customMetadataLength(); i++) {
            KeyValue entry = message.customMetadata(i);
            if (KEY.equals(entry.key())) {
                return String.valueOf(entry.value());
            }
        }
        return "";
    }
}
