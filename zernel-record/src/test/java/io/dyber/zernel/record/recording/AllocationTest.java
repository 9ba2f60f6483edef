package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.journal.Journal;
import io.dyber.zernel.record.journal.MessageBody;
import io.dyber.zernel.record.parquet.RowGroup;
import io.dyber.zernel.record.parquet.SegmentWriter;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Once all memory of a recording is there, events bring no more of it: what is allocated grows with batches and pages.
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROWS = 32_768;
    private static final List<Column> COLUMNS = List.of(
            new Column("kind", ColumnType.VARCHAR, "", ""),
            new Column("ts_ns", ColumnType.BIGINT, "ns", ""),
            new Column("tid", ColumnType.BIGINT, "", ""),
            new Column("bytes", ColumnType.BIGINT, "bytes", ""),
            new Column("name", ColumnType.VARCHAR, "", ""));

    @TempDir Path folder;

    private final StringDictionary texts = new StringDictionary();
    private final Batch batch = new Batch(COLUMNS, ROWS);
    private final RowGroup group = new RowGroup(COLUMNS);
    private long now;

    @Test
    void eventsOnTheirWayToTheJournalAllocateNothing() throws IOException {
        try (FileChannel file = open("journal");
                Journal journal = new Journal(file, COLUMNS, texts, 0, new MessageBody())) {
            batchToJournal(journal);
            long before = allocated();
            for (int i = 0; i < 8; i++) {
                batchToJournal(journal);
            }
            assertThat((allocated() - before) / 8).isLessThan(ROWS);
        }
    }

    @Test
    void eventsOnTheirWayToParquetAllocateLessThanTheirPagesTake() throws IOException {
        try (SegmentWriter writer = new SegmentWriter(COLUMNS, texts)) {
            long first = rowGroup(writer, 8, "first");
            long second = rowGroup(writer, 8, "second");
            long larger = rowGroup(writer, 16, "larger");
            long again = rowGroup(writer, 16, "again");

            assertThat(second).isLessThan(first);
            assertThat(again).isLessThan(larger);
            assertThat(again - second).isLessThan(8 * ROWS * 12L);
        }
    }

    private void batchToJournal(Journal journal) throws IOException {
        fill();
        journal.append(batch);
        group.append(batch);
        group.clear();
    }

    /// Bytes that writing a row group of so many batches allocates.
    private long rowGroup(SegmentWriter writer, int batches, String name) throws IOException {
        for (int i = 0; i < batches; i++) {
            fill();
            group.append(batch);
        }
        long before = allocated();
        writer.write(group, open(name));
        long bytes = allocated() - before;
        group.clear();
        return bytes;
    }

    private void fill() {
        batch.clear();
        int[] kinds = {texts.id("io"), texts.id("wait"), texts.id("region")};
        while (!batch.isFull()) {
            int row = batch.rows();
            int kind = row % 3;
            batch.addRow(kinds[kind]);
            batch.put(0, kinds[kind]);
            batch.put(1, now += 1_000 + row % 7);
            batch.put(2, 100 + row % 5);
            if (kind == 0) {
                batch.put(3, row * 37L % 100_000);
            }
            if (row % 11 != 0) {
                batch.put(4, kinds[(row / 3) % 3]);
            }
        }
    }

    private FileChannel open(String name) throws IOException {
        return FileChannel.open(folder.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    private static long allocated() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }
}
