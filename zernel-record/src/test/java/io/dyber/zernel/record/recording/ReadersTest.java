package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Column;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Every reader sees the same rows: several row groups, columns without a value, odd texts, and a filter that may skip
/// pages.
class ReadersTest {
    private static final int TID = 2;
    private static final int TEXT = 6;

    @TempDir static Path folder;
    private static final List<List<@Nullable Object>> ROWS = rows();

    @BeforeAll
    static void record() {
        Path output = folder.resolve("run.parquet");
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(10_000, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, RandomEvents.COLUMNS, texts, options)) {
            Events.write(file, RandomEvents.COLUMNS, texts, ROWS.size(), 1000, RandomEvents.source(ROWS));
            file.finish(Map.of());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pyarrow", "duckdb", "polars", "pandas", "spark"})
    void pythonReadersSeeEveryValue(String reader) throws IOException, InterruptedException {
        assertThat(Readers.python(reader, folder.resolve("run.parquet"))).isEqualTo(written());
    }

    @Test
    void duckDbInJavaSeesEveryValue() {
        assertThat(Readers.duckDb(folder.resolve("run.parquet"))).isEqualTo(written());
    }

    private static Readers.Seen written() {
        long ofThread7 = ROWS.stream().filter(row -> Long.valueOf(7).equals(row.get(TID))).count();
        return Readers.seen(RandomEvents.COLUMNS.stream().map(Column::name).toList(), ROWS, ofThread7);
    }

    private static List<List<@Nullable Object>> rows() {
        List<List<@Nullable Object>> rows = new ArrayList<>(new RandomEvents(5).rows(25_000));
        for (String odd : List.of("", " ", "\ud834\udd1e", "\u202e\u0301", "a\tb\nc\"'\\", "x".repeat(40_000), "\u0001")) {
            @Nullable Object[] row = new @Nullable Object[RandomEvents.COLUMNS.size()];
            row[0] = "kind0";
            row[1] = 1_000_000_000L + rows.size();
            row[TID] = 7L;
            row[TEXT] = odd;
            rows.add(Arrays.asList(row));
        }
        return List.copyOf(rows);
    }
}
