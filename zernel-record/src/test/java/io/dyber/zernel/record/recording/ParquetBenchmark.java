package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.Comparison;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.parquet.ParquetTable;
import io.dyber.zernel.record.parquet.RowGroup;
import io.dyber.zernel.record.parquet.SegmentWriter;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.ColumnWriteStore;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;

/// Events in memory to a Parquet file: CPU time of the writing thread per event, ours against parquet-java's writers and
/// DuckDB's COPY. All compress with zstd; only ours also sorts. The others get an eighth of the events, unsorted, and
/// DuckDB has them in a table of its memory and one thread.
final class ParquetBenchmark {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5;

    private final MixedEvents events = new MixedEvents(32);
    private final List<Column> columns = events.schema().columns();
    private final List<Batch> some = events.batches().subList(0, 4);
    private final MessageType schema = ParquetTable.schema(columns);
    private final Comparison comparison =
            new Comparison("Columns to Parquet, " + MixedEvents.DESCRIPTION, "ns CPU/event");
    private final RowGroup group = new RowGroup(columns);
    private final SegmentWriter segments = new SegmentWriter(columns, events.texts());
    private final Path file;

    private ParquetBenchmark(Path folder) {
        this.file = folder.resolve("segment.parquet");
    }

    public static void main(String[] args) throws IOException, SQLException {
        Path folder = Files.createTempDirectory("zernel-benchmark");
        ParquetBenchmark benchmark = new ParquetBenchmark(folder);
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement duckDb = connection.createStatement()) {
            boolean _ = duckDb.execute("SET threads = 1");
            long _ = benchmark.columns();
            boolean _ = duckDb.execute("CREATE TABLE events AS FROM '" + benchmark.file + "'");
            for (int round = -2; round < ROUNDS; round++) {
                benchmark.round(round >= 0, duckDb);
            }
        }
        benchmark.comparison.print();
        Files.delete(folder);
    }

    private interface Writing {
        /// Gives the number of events.
        long write() throws IOException, SQLException;
    }

    private void round(boolean counts, Statement duckDb) throws IOException, SQLException {
        measure("ours", this::ours, counts);
        measure("parquet-java ColumnWriteStore", this::columns, counts);
        measure("parquet-java Group", this::groups, counts);
        measure("DuckDB COPY", () -> duckDb(duckDb), counts);
    }

    private void measure(String way, Writing writing, boolean counts) throws IOException, SQLException {
        Files.deleteIfExists(file);
        long before = THREADS.getCurrentThreadCpuTime();
        double written = writing.write();
        long nanos = THREADS.getCurrentThreadCpuTime() - before;
        if (counts) {
            comparison.add(way, nanos / written);
            comparison.note(way, "%.2f B/event".formatted(Files.size(file) / written));
        }
        Files.delete(file);
    }

    private long ours() throws IOException {
        events.batches().forEach(group::append);
        long rows = group.rows();
        segments.write(group, FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        group.clear();
        return rows;
    }

    private long duckDb(Statement duckDb) throws SQLException {
        boolean _ = duckDb.execute(
                "COPY events TO '" + file + "' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1048576)");
        return rows();
    }

    private long rows() {
        return some.stream().mapToLong(Batch::rows).sum();
    }

    private long columns() throws IOException {
        ParquetProperties properties = ParquetProperties.builder().build();
        try (ParquetFileWriter writer = new ParquetFileWriter(
                        new LocalOutputFile(file), schema, ParquetFileWriter.Mode.CREATE, 0, 0, null, properties);
                ColumnChunkPageWriteStore pages = new ColumnChunkPageWriteStore(
                        new ZstdCodec(), schema, new HeapByteBufferAllocator(), 64, true)) {
            ColumnWriteStore store = properties.newColumnWriteStore(schema, pages, pages);
            for (int c = 0; c < columns.size(); c++) {
                write(store.getColumnWriter(schema.getColumns().get(c)), c);
            }
            for (long row = 0; row < rows(); row++) {
                store.endRecord();
            }
            store.flush();
            writer.start();
            writer.startBlock(rows());
            pages.flushToFileWriter(writer);
            writer.endBlock();
            writer.end(Map.of());
        }
        return rows();
    }

    private void write(ColumnWriter writer, int column) {
        boolean text = columns.get(column).type() == ColumnType.VARCHAR;
        for (Batch batch : some) {
            for (int row = 0; row < batch.rows(); row++) {
                if (batch.isNull(column, row)) {
                    writer.writeNull(0, 0);
                } else if (text) {
                    writer.write(Binary.fromString(events.texts().text((int) batch.value(column, row))), 0, 1);
                } else {
                    writer.write(batch.value(column, row), 0, 1);
                }
            }
        }
    }

    private long groups() throws IOException {
        SimpleGroupFactory factory = new SimpleGroupFactory(schema);
        try (ParquetWriter<Group> writer = ExampleParquetWriter.builder(new LocalOutputFile(file))
                .withConf(new PlainParquetConfiguration())
                .withType(schema)
                .withCodecFactory(new ZstdCodec())
                .withCompressionCodec(CompressionCodecName.ZSTD)
                .build()) {
            for (Batch batch : some) {
                for (int row = 0; row < batch.rows(); row++) {
                    writer.write(group(factory, batch, row));
                }
            }
        }
        return rows();
    }

    private Group group(SimpleGroupFactory factory, Batch batch, int row) {
        Group values = factory.newGroup();
        for (int c = 0; c < columns.size(); c++) {
            if (!batch.isNull(c, row)) {
                boolean text = columns.get(c).type() == ColumnType.VARCHAR;
                if (text) {
                    values.add(c, events.texts().text((int) batch.value(c, row)));
                } else {
                    values.add(c, batch.value(c, row));
                }
            }
        }
        return values;
    }
}
