package io.dyber.zernel.record.parquet;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Column;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.schema.MessageType;

/// Writes the events of a segment as a Parquet file of its own. One thread uses it, segment after segment.
///
/// Pages are encoded here and handed to parquet-java's file writer, which keeps offsets, statistics and page indexes;
/// its record writers are five times slower.
public final class SegmentWriter implements AutoCloseable {
    private final List<Column> columns;
    private final MessageType schema;
    private final ColumnEncoder encoder;
    private final SortOrder rowOrder = new SortOrder();
    private final StringDictionary texts;
    private final ThreadCounts.Scratch scratch = new ThreadCounts.Scratch();

    public SegmentWriter(List<Column> columns, StringDictionary texts) {
        this.columns = columns;
        this.schema = ParquetTable.schema(columns);
        this.encoder = new ColumnEncoder(texts);
        this.texts = texts;
    }

    /// Writes the file, forces it to disk and closes `channel`; no events give a file without rows.
    public void write(RowGroup group, FileChannel channel) throws IOException {
        ParquetProperties properties = ParquetProperties.builder().build();
        try (ParquetFileWriter file =
                new ParquetFileWriter(
                        new ChannelOutput(channel), schema, ParquetFileWriter.Mode.CREATE, 0, 0, null, properties)) {
            file.start();
            if (group.rows() > 0) {
                for (RowGroup part : group.divided()) {
                    writeRowGroup(part, file);
                }
            }
            file.end(ThreadCounts.of(group, texts, scratch).json().map(json -> Map.of(Footer.THREADS, json)).orElseGet(Map::of));
        }
    }

    @Override
    public void close() {
        encoder.close();
    }

    private void writeRowGroup(RowGroup group, ParquetFileWriter file) throws IOException {
        int rows = group.rows();
        encoder.open(group, rowOrder.of(group));
        file.startBlock(rows);
        for (int c = 0; c < columns.size(); c++) {
            ColumnDescriptor descriptor = schema.getColumns().get(c);
            ColumnChunk chunk = encoder.encode(c, columns.get(c), descriptor.getPrimitiveType());
            writeColumn(descriptor, chunk, rows, file);
        }
        file.endBlock();
    }

    private static void writeColumn(ColumnDescriptor descriptor, ColumnChunk chunk, int rows, ParquetFileWriter file)
            throws IOException {
        file.startColumn(descriptor, rows, CompressionCodecName.ZSTD);
        if (chunk.dictionary().isPresent()) {
            file.writeDictionaryPage(chunk.dictionary().get());
        }
        for (Page page : chunk.pages()) {
            file.writeDataPage(
                    page.rows(),
                    page.rawSize(),
                    page.zstd(),
                    page.statistics(),
                    page.rows(),
                    Encoding.RLE,
                    Encoding.RLE,
                    page.encoding());
        }
        file.endColumn();
    }
}
