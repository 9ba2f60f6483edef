package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.parquet.ThreadCounts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.OffsetIndex;
import org.apache.parquet.format.PageLocation;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Statistics;
import org.apache.parquet.format.Util;
import org.jspecify.annotations.Nullable;

/// Joins segments into one Parquet file without decoding them: the kernel copies the pages, only offsets change.
///
/// parquet-java's own `appendRowGroups` would drop the page indexes.
final class Concatenation {
    static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
    static final int TAIL = 8;

    private final FileChannel out;
    private final List<RowGroup> rowGroups = new ArrayList<>();
    private final List<Index> indexes = new ArrayList<>();
    private Optional<FileMetaData> first = Optional.empty();
    private Optional<ThreadCounts> threads = Optional.of(new ThreadCounts());
    private long rows;

    /// Page indexes of one column chunk, to be written behind all pages.
    private record Index(ColumnChunk chunk, ByteBuffer columnIndex, ByteBuffer offsetIndex) {}

    /// Writes to `out`, which is empty and stays open.
    Concatenation(FileChannel out) throws IOException {
        this.out = out;
        ClaimedFolder.writeAll(out, MAGIC);
    }

    /// Events joined so far.
    long rows() {
        return rows;
    }

    /// The largest value of a BIGINT column by its statistics, 0 when there is none.
    long largest(String column) throws IOException {
        long largest = 0;
        for (Index index : indexes) {
            ColumnMetaData data = SegmentFooter.present(index.chunk().getMeta_data());
            Statistics statistics = data.getStatistics();
            boolean isColumn = List.of(column).equals(data.getPath_in_schema());
            byte[] max = isColumn && statistics != null ? statistics.getMax_value() : null;
            if (max != null && max.length == Long.BYTES) {
                largest = Math.max(largest, ByteBuffer.wrap(max).order(ByteOrder.LITTLE_ENDIAN).getLong());
            }
        }
        return largest;
    }

    /// Appends the row groups of a segment.
    void add(FileChannel segment) throws IOException {
        FileMetaData footer = SegmentFooter.read(segment);
        if (first.isPresent() && !Objects.equals(first.get().getSchema(), footer.getSchema())) {
            throw new IOException("a segment has other columns than the first");
        }
        first = first.isPresent() ? first : Optional.of(footer);
        count(ThreadCounts.parse(value(footer, Footer.THREADS)));
        for (RowGroup group : SegmentFooter.present(footer.getRow_groups())) {
            rows += group.getNum_rows();
            long from = group.getFile_offset();
            long shift = out.position() - from;
            copy(segment, from, group.getTotal_compressed_size());
            for (ColumnChunk chunk : SegmentFooter.present(group.getColumns())) {
                indexes.add(index(segment, chunk, shift));
                shift(chunk, shift);
            }
            group.setFile_offset(from + shift);
            number(group);
            rowGroups.add(group);
        }
    }

    /// Writes indexes and footer. At least one segment must have been added: it gives the schema.
    void finish(Map<String, String> keyValues) throws IOException {
        for (Index index : indexes) {
            index.chunk().setColumn_index_offset(out.position());
            index.chunk().setColumn_index_length(index.columnIndex().remaining());
            ClaimedFolder.writeAll(out, index.columnIndex().duplicate());
        }
        for (Index index : indexes) {
            index.chunk().setOffset_index_offset(out.position());
            index.chunk().setOffset_index_length(index.offsetIndex().remaining());
            ClaimedFolder.writeAll(out, index.offsetIndex().duplicate());
        }
        FileMetaData footer = first.orElseThrow();
        footer.setNum_rows(rows);
        footer.setRow_groups(rowGroups);
        footer.setKey_value_metadata(keyValues(keyValues));
        threads.filter(counted -> counted.events() == rows)
                .flatMap(ThreadCounts::json)
                .ifPresent(json -> footer.addToKey_value_metadata(keyValue(Footer.THREADS, json)));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Util.writeFileMetaData(footer, bytes);
        ByteBuffer tail = ByteBuffer.allocate(TAIL).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.size()).put(MAGIC);
        ClaimedFolder.writeAll(out, bytes.toByteArray());
        ClaimedFolder.writeAll(out, tail.flip());
    }

    /// Without those of one segment, those of the others are no use; too many would fill the memory of a long recording.
    private void count(Optional<ThreadCounts> segment) {
        segment.ifPresent(more -> threads.ifPresent(counted -> counted.add(more)));
        threads = segment.isPresent() ? threads.filter(ThreadCounts::areFew) : Optional.empty();
    }

    private void copy(FileChannel from, long position, long length) throws IOException {
        long done = 0;
        while (done < length) {
            long copied = from.transferTo(position + done, length - done, out);
            if (copied <= 0) {
                throw new IOException("a segment is too short");
            }
            done += copied;
        }
    }

    private static Index index(FileChannel segment, ColumnChunk chunk, long shift) throws IOException {
        byte[] columnIndex =
                SegmentFooter.bytes(segment, chunk.getColumn_index_offset(), chunk.getColumn_index_length());
        OffsetIndex offsetIndex =
                SegmentFooter.parse(
                        segment, chunk.getOffset_index_offset(), chunk.getOffset_index_length(), new OffsetIndex());
        for (PageLocation page : SegmentFooter.present(offsetIndex.getPage_locations())) {
            page.setOffset(page.getOffset() + shift);
        }
        ByteArrayOutputStream shifted = new ByteArrayOutputStream();
        Util.writeOffsetIndex(offsetIndex, shifted);
        return new Index(chunk, ByteBuffer.wrap(columnIndex), ByteBuffer.wrap(shifted.toByteArray()));
    }

    private static void shift(ColumnChunk chunk, long shift) throws IOException {
        ColumnMetaData data = SegmentFooter.present(chunk.getMeta_data());
        data.setData_page_offset(data.getData_page_offset() + shift);
        if (data.isSetDictionary_page_offset()) {
            data.setDictionary_page_offset(data.getDictionary_page_offset() + shift);
        }
        chunk.setFile_offset(chunk.getFile_offset() + shift);
    }

    /// Ordinals are 16 bits wide and optional.
    private void number(RowGroup group) {
        if (rowGroups.size() <= Short.MAX_VALUE) {
            group.setOrdinal((short) rowGroups.size());
        } else {
            group.unsetOrdinal();
        }
    }

    private static List<KeyValue> keyValues(Map<String, String> map) {
        List<KeyValue> list = new ArrayList<>();
        map.forEach((key, value) -> list.add(keyValue(key, value)));
        return list;
    }

    private static KeyValue keyValue(String key, String value) {
        KeyValue entry = new KeyValue(key);
        entry.setValue(value);
        return entry;
    }

    private static @Nullable String value(FileMetaData footer, String key) {
        List<KeyValue> all = Objects.requireNonNullElse(footer.getKey_value_metadata(), List.of());
        return all.stream()
                .filter(entry -> key.equals(entry.getKey()))
                .map(KeyValue::getValue)
                .findFirst()
                .orElse(null);
    }
}
