package io.dyber.zernel.record.recording;

import static java.util.Arrays.asList;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.parquet.ColumnReorderer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnIndex;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.Statistics;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a reader may leave out that wants one thread, one kind, or a stretch of time.
class PruningTest {
    private static final int THREADS = 8;
    private static final int TS = 2;
    private static final int TID = 4;

    @TempDir Path folder;

    @Test
    void oneThreadIsInFewPages() throws IOException {
        int rows = 4 * ColumnReorderer.CAPACITY;
        Path file = record(rows, rows);

        ColumnIndex pages = index(file, columns(rowGroups(file).getFirst()).get(TID));

        assertThat(pages.getMin_values()).hasSize(4);
        for (long tid = 0; tid < THREADS; tid++) {
            assertThat(candidates(pages, tid)).as("pages with thread %d", tid).isEqualTo(1);
        }
    }

    @Test
    void aStretchOfTimeIsInFewRowGroups() throws IOException {
        Path file = record(40_000, 10_000);

        assertThat(rowGroups(file)).hasSize(4).allSatisfy(group -> {
            ColumnMetaData chunk = requireNonNull(columns(group).get(TS).getMeta_data());
            Statistics times = requireNonNull(chunk.getStatistics());
            assertThat(number(times.getMin_value()) / 10_000).isEqualTo(number(times.getMax_value()) / 10_000);
        });
    }

    @Test
    void kindsWithManyEventsHaveRowGroupsOfTheirOwn() {
        List<String> cycle = List.of("io", "io", "io", "wait", "io", "region", "sched", "sched", "sched", "wait");
        Path file = record(120_000, 120_000, i -> new Object[] {cycle.get((int) i % 10), "n", i, null, 1L, i, null});

        assertThat(Duck.query(file, """
                SELECT row_group_num_rows, stats_min_value, stats_max_value
                FROM parquet_metadata($file) WHERE path_in_schema = 'kind' ORDER BY row_group_id""")).containsExactly(
                asList(48_000L, "io", "io"),
                asList(36_000L, "sched", "sched"),
                asList(36_000L, "region", "wait"));
        assertThat(Duck.query(file, "SELECT ts_ns % 10, kind, count(DISTINCT ts_ns) FROM $file WHERE bytes = ts_ns"
                + " GROUP BY ALL ORDER BY 1")).isEqualTo(
                IntStream.range(0, 10).mapToObj(i -> asList((long) i, cycle.get(i), 12_000L)).toList());
    }

    private Path record(int rows, int rowGroup) {
        return record(rows, rowGroup, i -> new Object[] {"io", "read", i, 1L, i % THREADS, 4096L, null});
    }

    private Path record(int rows, int rowGroup, LongFunction<Object[]> row) {
        Path file = folder.resolve("run.parquet");
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(rowGroup, Optional.empty());
        try (RecordingFile recording = RecordingFile.create(file, Events.COLUMNS, texts, options)) {
            Events.write(recording, Events.COLUMNS, texts, rows, 10_000, row);
            recording.finish(Map.of());
        }
        return file;
    }

    private static long candidates(ColumnIndex pages, long value) {
        List<ByteBuffer> smallest = requireNonNull(pages.getMin_values());
        List<ByteBuffer> largest = requireNonNull(pages.getMax_values());
        long found = 0;
        for (int p = 0; p < smallest.size(); p++) {
            if (number(smallest.get(p)) <= value && value <= number(largest.get(p))) {
                found++;
            }
        }
        return found;
    }

    private static long number(byte[] value) {
        return number(ByteBuffer.wrap(value));
    }

    private static long number(ByteBuffer value) {
        return value.duplicate().order(ByteOrder.LITTLE_ENDIAN).getLong(value.position());
    }

    private static List<org.apache.parquet.format.RowGroup> rowGroups(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8);
        byte[] footer = Arrays.copyOfRange(bytes, bytes.length - 8 - length, bytes.length - 8);
        return requireNonNull(Util.readFileMetaData(new ByteArrayInputStream(footer)).getRow_groups());
    }

    private static List<ColumnChunk> columns(org.apache.parquet.format.RowGroup group) {
        return requireNonNull(group.getColumns());
    }

    private static ColumnIndex index(Path file, ColumnChunk chunk) throws IOException {
        int from = Math.toIntExact(chunk.getColumn_index_offset());
        byte[] bytes = Arrays.copyOfRange(Files.readAllBytes(file), from, from + chunk.getColumn_index_length());
        return Util.readColumnIndex(new ByteArrayInputStream(bytes));
    }
}
