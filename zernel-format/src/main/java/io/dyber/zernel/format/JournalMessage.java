package io.dyber.zernel.format;

import com.google.flatbuffers.Table;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/// A message of a journal that is whole and sound: no number in it leads out of it.
///
/// @param header what it is
/// @param body its buffers
/// @param bytes all of it, as in the file where that is not compressed
/// @param checksummed whether it has a checksum, which then is right
public record JournalMessage(Message header, ByteBuffer body, ByteBuffer bytes, boolean checksummed) {

    public boolean isSchema() {
        return header.headerType() == MessageHeader.Schema;
    }

    /// Whether it holds strings instead of rows.
    public boolean isDictionary() {
        return header.headerType() == MessageHeader.DictionaryBatch;
    }

    public Schema schema() {
        return filled(new Schema());
    }

    DictionaryBatch dictionary() {
        return filled(new DictionaryBatch());
    }

    /// The rows, or the strings of a dictionary.
    public RecordBatch batch() {
        return isDictionary() ? dictionary().data() : filled(new RecordBatch());
    }

    private <T extends Table> T filled(T empty) {
        header.header(empty);
        return empty;
    }

    /// One of the buffers of the batch.
    public ByteBuffer buffer(int index) {
        RecordBatch batch = batch();
        return body.slice((int) batch.buffers(index).offset(), (int) batch.buffers(index).length())
                .order(ByteOrder.LITTLE_ENDIAN);
    }
}
