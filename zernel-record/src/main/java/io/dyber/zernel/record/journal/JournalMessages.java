package io.dyber.zernel.record.journal;

import com.google.flatbuffers.FlatBufferBuilder;
import io.dyber.zernel.format.BatchMessage;
import io.dyber.zernel.format.JournalFile;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.DictionaryKind;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.MessageHeader;
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
        return BatchMessage.message(b, MessageHeader.Schema, Schema.endSchema(b), 0, 0);
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
