package io.dyber.zernel.format;

import com.google.flatbuffers.FlatBufferBuilder;
import io.dyber.zernel.format.JournalChecksum.Node;
import io.dyber.zernel.format.JournalChecksum.Span;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;

/// The metadata of a journal's messages, as flatbuffers.
public final class BatchMessage {
    private BatchMessage() {}

    /// Rows.
    ///
    /// @param crc the checksum; empty for none
    /// @param compressed whether each buffer is its length and a ZSTD frame
    public static ByteBuffer rows(List<Node> nodes, List<Span> buffers, long bodyLength, String crc, boolean compressed) {
        FlatBufferBuilder b = new FlatBufferBuilder(4096);
        int metadata = checksum(b, crc);
        return message(b, MessageHeader.RecordBatch, recordBatch(b, nodes, buffers, compressed), bodyLength, metadata);
    }

    /// Strings.
    public static ByteBuffer dictionary(
            List<Node> nodes, List<Span> buffers, long bodyLength, String crc, boolean isDelta) {
        FlatBufferBuilder b = new FlatBufferBuilder(1024);
        int metadata = checksum(b, crc);
        int data = recordBatch(b, nodes, buffers, false);
        int header = DictionaryBatch.createDictionaryBatch(b, JournalFile.DICTIONARY_ID, data, isDelta);
        return message(b, MessageHeader.DictionaryBatch, header, bodyLength, metadata);
    }

    /// Finishes a message of any type.
    ///
    /// @param metadata a vector of keys and values; 0 for none
    public static ByteBuffer message(FlatBufferBuilder b, byte type, int header, long bodyLength, int metadata) {
        Message.startMessage(b);
        Message.addVersion(b, MetadataVersion.V5);
        Message.addHeaderType(b, type);
        Message.addHeader(b, header);
        Message.addBodyLength(b, bodyLength);
        if (metadata != 0) {
            Message.addCustomMetadata(b, metadata);
        }
        b.finish(Message.endMessage(b));
        return b.dataBuffer();
    }

    private static int checksum(FlatBufferBuilder b, String crc) {
        return crc.isEmpty()
                ? 0
                : Message.createCustomMetadataVector(
                        b, new int[] {KeyValue.createKeyValue(b, b.createString(JournalChecksum.KEY), b.createString(crc))});
    }

    /// Vectors of structs are built back to front.
    private static int recordBatch(FlatBufferBuilder b, List<Node> nodes, List<Span> buffers, boolean compressed) {
        RecordBatch.startNodesVector(b, nodes.size());
        for (Node node : nodes.reversed()) {
            int _ = FieldNode.createFieldNode(b, node.rows(), node.nulls());
        }
        int nodeVector = b.endVector();
        RecordBatch.startBuffersVector(b, buffers.size());
        for (Span span : buffers.reversed()) {
            int _ = Buffer.createBuffer(b, span.offset(), span.length());
        }
        int bufferVector = b.endVector();
        int compression = compressed
                ? BodyCompression.createBodyCompression(b, CompressionType.ZSTD, BodyCompressionMethod.BUFFER)
                : 0;
        RecordBatch.startRecordBatch(b);
        RecordBatch.addLength(b, nodes.getFirst().rows());
        RecordBatch.addNodes(b, nodeVector);
        RecordBatch.addBuffers(b, bufferVector);
        if (compressed) {
            RecordBatch.addCompression(b, compression);
        }
        return RecordBatch.endRecordBatch(b);
    }
}
