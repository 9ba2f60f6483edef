package io.dyber.zernel.record.recording;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.jspecify.annotations.Nullable;
import shaded.parquet.org.apache.thrift.TBase;
import shaded.parquet.org.apache.thrift.TConfiguration;
import shaded.parquet.org.apache.thrift.TException;
import shaded.parquet.org.apache.thrift.protocol.TCompactProtocol;
import shaded.parquet.org.apache.thrift.transport.TIOStreamTransport;

/// The footer of a segment, read as if it were forged: nothing in it leads outside the file, and no number in it
/// is believed before it is compared with the file's size.
final class SegmentFooter {
    private static final int DEEPEST = 16;

    private SegmentFooter() {}

    /// @throws IOException when it is not a footer that describes this file
    static FileMetaData read(FileChannel segment) throws IOException {
        byte[] tail = bytes(segment, segment.size() - Concatenation.TAIL, Concatenation.TAIL);
        int length = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (!Arrays.equals(tail, 4, Concatenation.TAIL, Concatenation.MAGIC, 0, 4)) {
            throw new IOException("a segment does not end like a Parquet file");
        }
        long end = segment.size() - Concatenation.TAIL - length;
        FileMetaData footer = parse(segment, end, length, new FileMetaData());
        for (RowGroup group : present(footer.getRow_groups())) {
            check(group, present(footer.getSchema()).size() - 1, end);
        }
        return footer;
    }

    /// Reads a Thrift structure, which must be complete.
    static <T extends TBase<?, ?>> T parse(FileChannel file, long position, int length, T empty) throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(bytes(file, position, length));
        TConfiguration limits = new TConfiguration(Math.max(1, length), Math.max(1, length), DEEPEST);
        try {
            empty.read(new TCompactProtocol(new TIOStreamTransport(limits, in), length, length));
            return empty;
        } catch (TException | RuntimeException e) {
            throw new IOException("a segment's footer is damaged", e);
        }
    }

    /// Reads a range that must be inside the file.
    static byte[] bytes(FileChannel file, long position, int length) throws IOException {
        if (position < 0 || length < 0 || length > file.size() - position) {
            throw new IOException("a segment is too short");
        }
        byte[] content = new byte[length];
        ByteBuffer bytes = ByteBuffer.wrap(content);
        while (bytes.hasRemaining()) {
            if (file.read(bytes, position + bytes.position()) < 0) {
                throw new IOException("a segment is too short");
            }
        }
        return content;
    }

    static <T> T present(@Nullable T part) throws IOException {
        if (part == null) {
            throw new IOException("a segment's footer is not complete");
        }
        return part;
    }

    private static void check(RowGroup group, int columns, long end) throws IOException {
        long from = group.getFile_offset();
        long size = group.getTotal_compressed_size();
        if (from < Concatenation.MAGIC.length || size < 0 || size > end - from || group.getNum_rows() < 0) {
            throw new IOException("a segment's footer leads out of it");
        }
        List<ColumnChunk> chunks = present(group.getColumns());
        if (chunks.size() != columns) {
            throw new IOException("a segment's row group has not all columns");
        }
        for (ColumnChunk chunk : chunks) {
            ColumnMetaData data = present(chunk.getMeta_data());
            if (data.getNum_values() != group.getNum_rows()) {
                throw new IOException("a segment's row group has columns of different lengths");
            }
        }
    }
}
