package io.dyber.zernel.record.journal;

import com.google.flatbuffers.FlatBufferBuilder;
import io.dyber.zernel.format.JournalChecksum.Node;
import io.dyber.zernel.format.JournalChecksum.Span;
import io.dyber.zernel.format.JournalChecksum;
import io.dyber.zernel.format.JournalFile;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.DictionaryKind;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Utf8;

/// The Arrow IPC metadata of a journal's messages, in the official flatbuffer classes.
///
/// Arrow's own vectors and `MessageSerializer` would write the same bytes, but need `sun.misc.Unsafe`, opened JDK
/// packages, one copy more and 0.3 s of class loading.
public final class JournalMessages {
    /// Schema metadata: the number of the row group that the journal will become.
    static final String SEGMENT = "zernel.segment";
    /// Field metadata: the unit of the column.
    static final String UNIT = "unit";

    private JournalMessages() {}

    public static ByteBuffer schema(List<Column> columns, int segment) {
        FlatBufferBuilder b = new FlatBufferBuilder(4096);
        int[] fields = columns.stream().mapToInt(column -> field(b, column)).toArray();
        int fieldVector = Schema.createFieldsVector(b, fields);
        int metadata = Schema.createCustomMetadataVector(b, keyValue(b, SEGMENT, Integer.toString(segment)));
        Schema.startSchema(b);
        Schema.addEndianness(b, Endianness.Little);
        Schema.addFields(b, fieldVector);
        Schema.addCustomMetadata(b, metadata);
        return message(b, MessageHeader.Schema, Schema.endSchema(b), 0, 0);
    }

    public static ByteBuffer batch(List<Node> nodes, List<Span> buffers, long bodyLength, String crc) {
        FlatBufferBuilder b = new FlatBufferBuilder(4096);
        int metadata = Message.createCustomMetadataVector(b, keyValue(b, JournalChecksum.KEY, crc));
        return message(b, MessageHeader.RecordBatch, recordBatch(b, nodes, buffers), bodyLength, metadata);
    }

    public static ByteBuffer dictionary(
            List<Node> nodes, List<Span> buffers, long bodyLength, String crc, boolean isDelta) {
        FlatBufferBuilder b = new FlatBufferBuilder(1024);
        int metadata = Message.createCustomMetadataVector(b, keyValue(b, JournalChecksum.KEY, crc));
        int data = recordBatch(b, nodes, buffers);
        int header = DictionaryBatch.createDictionaryBatch(b, JournalFile.DICTIONARY_ID, data, isDelta);
        return message(b, MessageHeader.DictionaryBatch, header, bodyLength, metadata);
    }

    private static ByteBuffer message(FlatBufferBuilder b, byte type, int header, long bodyLength, int metadata) {
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

    /// Vectors of structs are built back to front.
    private static int recordBatch(FlatBufferBuilder b, List<Node> nodes, List<Span> buffers) {
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
        RecordBatch.startRecordBatch(b);
        RecordBatch.addLength(b, nodes.getFirst().rows());
        RecordBatch.addNodes(b, nodeVector);
        RecordBatch.addBuffers(b, bufferVector);
        return RecordBatch.endRecordBatch(b);
    }

    private static int field(FlatBufferBuilder b, Column column) {
        boolean text = column.type() == ColumnType.VARCHAR;
        int name = b.createString(column.name());
        int children = Field.createChildrenVector(b, new int[0]);
        int metadata = Field.createCustomMetadataVector(b, keyValue(b, UNIT, column.unit()));
        int type = text ? utf8(b) : Int.createInt(b, 64, true);
        int dictionary = text ? dictionaryEncoding(b) : 0;
        Field.startField(b);
        Field.addName(b, name);
        Field.addNullable(b, true);
        Field.addTypeType(b, text ? Type.Utf8 : Type.Int);
        Field.addType(b, type);
        Field.addChildren(b, children);
        Field.addCustomMetadata(b, metadata);
        if (text) {
            Field.addDictionary(b, dictionary);
        }
        return Field.endField(b);
    }

    private static int utf8(FlatBufferBuilder b) {
        Utf8.startUtf8(b);
        return Utf8.endUtf8(b);
    }

    private static int dictionaryEncoding(FlatBufferBuilder b) {
        int index = Int.createInt(b, 32, true);
        return DictionaryEncoding.createDictionaryEncoding(b, JournalFile.DICTIONARY_ID, index, false, DictionaryKind.DenseArray);
    }

    private static int[] keyValue(FlatBufferBuilder b, String key, String value) {
        return new int[] {KeyValue.createKeyValue(b, b.createString(key), b.createString(value))};
    }
}
