package io.dyber.zernel.record.parquet;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.Duck;
import io.dyber.zernel.record.recording.Events;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.recording.Recovery;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThreadCountsTest {
    private static final List<Column> COLUMNS = List.of(
            new Column("kind", ColumnType.VARCHAR, "", ""),
            new Column("ts_ns", ColumnType.BIGINT, "ns", ""),
            new Column("dur_ns", ColumnType.BIGINT, "ns", ""),
            new Column("pid", ColumnType.BIGINT, "", ""),
            new Column("tid", ColumnType.BIGINT, "", ""),
            new Column("comm", ColumnType.VARCHAR, "", ""));
    private static final String SAID = """
            SELECT unnest(
                from_json(decode(value), '[{"pid":"BIGINT","tid":"BIGINT","comm":"VARCHAR","kind":"VARCHAR",\
            "events":"BIGINT","first_ns":"BIGINT","last_ns":"BIGINT"}]'),
                max_depth := 2)
            FROM parquet_kv_metadata($file) WHERE decode(key) = 'zernel.threads'""";
    private static final String COUNTED = """
            SELECT pid, tid, comm, kind, count(*), min(ts_ns), max(ts_ns + coalesce(dur_ns, 0)) FROM $file GROUP BY ALL""";

    @TempDir
    private Path folder = Path.of("");

    private Path output = Path.of("");

    @BeforeEach
    void nameOutput() {
        output = folder.resolve("run.parquet");
    }

    @Test
    void theFooterCountsWhatTheRowsSay() {
        SplittableRandom random = new SplittableRandom(1);
        try (RecordingFile file = record(20_000, row -> new Object[] {
            "kind" + random.nextInt(4),
            row * 10,
            random.nextInt(3) == 0 ? null : (Object) random.nextLong(1_000_000),
            random.nextInt(9) == 0 ? null : (Object) random.nextLong(3),
            random.nextInt(9) == 0 ? null : (Object) random.nextLong(5),
            random.nextInt(9) == 0 ? null : "\u00e4\"" + random.nextInt(3)
        })) {
            file.finish(Map.of());
        }

        assertThat(Duck.query(output, SAID)).hasSizeGreaterThan(300).containsExactlyInAnyOrderElementsOf(Duck.query(output, COUNTED));
    }

    @Test
    void eventsAreCountedWhereTheLastOfManyHaveNoDurationAndNoName() {
        try (RecordingFile file = record(
                50_000,
                50_000,
                row -> new Object[] {
                    "function", row, row < 9_000 ? row : null, 1L, row < 20_000 ? row % 7 : null, row < 9_000 ? "a" + row % 2 : null
                })) {
            file.finish(Map.of());
        }

        assertThat(Duck.query(output, "SELECT count(*), count(dur_ns), count(tid) FROM $file"))
                .containsExactly(asList(50_000L, 9_000L, 20_000L));
        assertThat(Duck.query(output, SAID)).hasSize(22).containsExactlyInAnyOrderElementsOf(Duck.query(output, COUNTED));
    }

    @Test
    void whatIsRecoveredIsCounted() {
        record(2_500, row -> new Object[] {"io", row, 5L, 1L, row % 7, "python3"}).close();
        assertThat(Recovery.recover(output).journalEvents()).isEqualTo(500);

        assertThat(Duck.query(output, SAID)).hasSize(7).containsExactlyInAnyOrderElementsOf(Duck.query(output, COUNTED));
    }

    @Test
    void nothingIsCountedWhereASegmentHasNoCounts() throws Exception {
        record(2_500, row -> new Object[] {"io", row, 5L, 1L, row % 7, "python3"}).close();
        Path segment = folder.resolve("run.parquet.live/000001.parquet");
        String content = Files.readString(segment, java.nio.charset.StandardCharsets.ISO_8859_1);
        Files.writeString(
                segment, content.replace("zernel.threads", "zernel.thread_"), java.nio.charset.StandardCharsets.ISO_8859_1);
        assertThat(Recovery.recover(output).events()).isEqualTo(2_500);

        assertThat(Duck.query(output, SAID)).isEmpty();
    }

    @Test
    void tooManyThreadsAreNotCounted() {
        try (RecordingFile file = record(10_001, row -> new Object[] {"io", row, 5L, 1L, row, "python3"})) {
            file.finish(Map.of());
        }

        assertThat(Duck.query(output, SAID)).isEmpty();
        assertThat(Duck.query(output, "SELECT count(*) FROM $file")).containsExactly(asList(10_001L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "7", "[null]", "[7]", "[{\"kind\":\"io\"}]", "[{\"events\":\"many\"}]", "[{"})
    void whatIsNoCountIsNotTakenForOne(String json) {
        assertThat(ThreadCounts.parse(json)).isEmpty();
    }

    @Test
    void aSegmentOfAnOlderVersionHasNoCounts() {
        assertThat(ThreadCounts.parse(null)).isEmpty();
    }

    private RecordingFile record(long rows, LongFunction<Object[]> row) {
        return record(rows, 1_000, row);
    }

    private RecordingFile record(long rows, int segmentRows, LongFunction<Object[]> row) {
        StringDictionary texts = new StringDictionary();
        RecordingFile file =
                RecordingFile.create(output, COLUMNS, texts, new RecordingFile.Options(segmentRows, Optional.empty()));
        Events.write(file, COLUMNS, texts, rows, 100, row);
        return file;
    }
}
