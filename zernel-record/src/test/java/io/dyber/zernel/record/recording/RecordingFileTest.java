package io.dyber.zernel.record.recording;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordingFileTest {
    private static final Map<String, String> FOOTER = Map.of("zernel.format", "1");

    @TempDir Path folder;
    private Path output;

    @BeforeEach
    void nameOutput() {
        output = folder.resolve("run.parquet");
    }

    @Test
    void everyValueComesBack() {
        String text = "/tmp/\u00e4\u4f60\ud83d\ude00\u0000\n";
        record(Events.COLUMNS, 3, 1000, 1 << 20, row -> switch ((int) row) {
            case 0 -> new Object[] {"io", "read", Long.MIN_VALUE, 0L, 7L, Long.MAX_VALUE, text};
            case 1 -> new Object[] {"io", null, 5L, null, 7L, Long.MIN_VALUE, ""};
            default -> new Object[] {"wait", "futex", Long.MAX_VALUE, -1L, 7L, null, null};
        });

        assertThat(Duck.query(output, "FROM $file")).containsExactly(
                asList("io", "read", Long.MIN_VALUE, 0L, 7L, Long.MAX_VALUE, text),
                asList("io", null, 5L, null, 7L, Long.MIN_VALUE, ""),
                asList("wait", "futex", Long.MAX_VALUE, -1L, 7L, null, null));
    }

    @Test
    void aColumnThatOnlyTheFirstRowsOfABatchFillComesBack() {
        record(Events.COLUMNS, 5000, 5000, 1 << 20, row -> new Object[] {
            "io", "read", row, 0L, 7L, row < 10 ? row : null, null
        });

        assertThat(Duck.query(output, "SELECT count(*), count(bytes), sum(bytes) FROM $file WHERE tid = 7"))
                .containsExactly(asList(5000L, 10L, new java.math.BigInteger("45")));
    }

    @Test
    void aRecordingThatIsGivenToAnOwnerStaysLocked() throws IOException {
        RecordingFile.Owner owner = new RecordingFile.Owner(
                (int) Files.getAttribute(folder, "unix:uid"), (int) Files.getAttribute(folder, "unix:gid"));
        RecordingFile.Options options = new RecordingFile.Options().withOwner(owner);

        try (RecordingFile _ = RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), options)) {
            Object lock = Files.getAttribute(folder.resolve("run.parquet.live/lock"), "unix:ino");
            assertThat(Files.readString(Path.of("/proc/locks"))).contains(":" + lock + " ");
        }
    }

    @Test
    void noEventsGiveAnEmptyTable() {
        record(Events.COLUMNS, 0, 1000, 1 << 20, _ -> new Object[0]);

        assertThat(Duck.query(output, "DESCRIBE FROM $file").stream().map(row -> row.get(0) + " " + row.get(1)))
                .containsExactly("kind VARCHAR", "name VARCHAR", "ts_ns BIGINT", "dur_ns BIGINT", "tid BIGINT",
                        "bytes BIGINT", "path VARCHAR");
        assertThat(Duck.query(output, "SELECT count(*) FROM $file")).containsExactly(asList(0L));
        assertThat(folder).isDirectoryContaining("glob:**/run.parquet").isDirectoryNotContaining("glob:**.live");
    }

    /// Seed, rows, rows per batch, rows per row group: from one row at a time to more than one page per column.
    @ParameterizedTest
    @CsvSource({"1, 150, 1, 1", "2, 3000, 7, 64", "3, 5000, 1000, 1", "4, 20000, 512, 3000", "5, 400000, 32768, 300000"})
    void randomRowsComeBack(long seed, int count, int batchRows, int groupRows) {
        List<List<@Nullable Object>> rows = new RandomEvents(seed).rows(count);
        record(RandomEvents.COLUMNS, count, batchRows, groupRows, RandomEvents.source(rows));

        assertThat(Duck.query(output, "FROM $file ORDER BY ts_ns")).isEqualTo(rows);
    }

    @Test
    void rowsOfARowGroupAreOrderedByThreadAndStart() {
        List<List<@Nullable Object>> rows = new RandomEvents(6).rows(50_000);
        record(RandomEvents.COLUMNS, 50_000, 1000, 20_000, RandomEvents.source(rows));

        assertThat(Duck.query(output, """
                WITH ends AS (
                    SELECT DISTINCT row_group_id, sum(row_group_num_rows) OVER (ORDER BY row_group_id) AS first_after
                    FROM parquet_metadata($file) WHERE column_id = 0),
                neighbours AS (
                    SELECT file_row_number AS n, tid, ts_ns,
                           lag(tid) OVER w AS tid_before, lag(ts_ns) OVER w AS ts_before
                    FROM read_parquet($file, file_row_number = true) WINDOW w AS (ORDER BY file_row_number))
                SELECT n, n IN (SELECT first_after FROM ends) FROM neighbours
                WHERE n > 0 AND (tid, ts_ns) < (tid_before, ts_before) ORDER BY n"""))
                .containsExactly(asList(20_000L, true), asList(40_000L, true));
    }

    @Test
    void startsTooFarApartToPackAreStillOrdered() {
        record(Events.COLUMNS, 4, 4, 1 << 20, row ->
                new Object[] {"io", "r", row % 2 == 0 ? Long.MAX_VALUE - row : Long.MIN_VALUE + row, null, 3 - row / 2});

        assertThat(Duck.query(output, "SELECT tid, ts_ns FROM $file")).containsExactly(
                asList(2L, Long.MIN_VALUE + 3), asList(2L, Long.MAX_VALUE - 2),
                asList(3L, Long.MIN_VALUE + 1), asList(3L, Long.MAX_VALUE));
    }

    @Test
    void statisticsOfEachRowGroupAreExact() {
        record(Events.COLUMNS, 6, 3, 3, row ->
                new Object[] {"k" + row, row == 5 ? null : "n", 100 + row, row > 2 ? null : -row, 1L, row % 2});

        assertThat(Duck.query(output, """
                SELECT path_in_schema, stats_min_value, stats_max_value, stats_null_count
                FROM parquet_metadata($file) WHERE row_group_id = 1""")).containsExactly(
                asList("kind", "k3", "k5", 0L),
                asList("name", "n", "n", 1L),
                asList("ts_ns", "103", "105", 0L),
                asList("dur_ns", null, null, 3L),
                asList("tid", "1", "1", 0L),
                asList("bytes", "0", "1", 0L),
                asList("path", null, null, 3L));
    }

    @Test
    void encodingsAreWhatReadersAreFastWith() {
        List<List<@Nullable Object>> rows = new RandomEvents(7).rows(90_000);
        record(RandomEvents.COLUMNS, 90_000, 32_768, 1 << 20, RandomEvents.source(rows));

        assertThat(Duck.query(output, """
                SELECT path_in_schema, array_to_string(list_sort(string_split(encodings, ', ')), ' '), compression
                FROM parquet_metadata($file)""")).containsExactly(
                asList("kind", "PLAIN RLE RLE_DICTIONARY", "ZSTD"),
                asList("ts_ns", "DELTA_BINARY_PACKED RLE", "ZSTD"),
                asList("tid", "PLAIN RLE RLE_DICTIONARY", "ZSTD"),
                asList("noise_ns", "DELTA_BINARY_PACKED RLE", "ZSTD"),
                asList("runs", "PLAIN RLE RLE_DICTIONARY", "ZSTD"),
                asList("paths", "PLAIN RLE", "ZSTD"),
                asList("words", "PLAIN RLE RLE_DICTIONARY", "ZSTD"),
                asList("never", "PLAIN RLE", "ZSTD"),
                asList("numbers", "DELTA_BINARY_PACKED RLE", "ZSTD"),
                asList("never_text", "PLAIN RLE", "ZSTD"),
                asList("of_one_kind", "DELTA_BINARY_PACKED RLE", "ZSTD"),
                asList("constant_of_one_kind", "PLAIN RLE RLE_DICTIONARY", "ZSTD"),
                asList("constants_of_two_kinds", "PLAIN RLE RLE_DICTIONARY", "ZSTD"));
    }

    @Test
    void columnsWithoutValuesCostAlmostNothing() throws IOException {
        List<Column> wide = new ArrayList<>(Events.COLUMNS);
        for (int i = 0; i < 100; i++) {
            wide.add(new Column("unused" + i, i % 2 == 0 ? ColumnType.BIGINT : ColumnType.VARCHAR, "", ""));
        }
        LongFunction<Object[]> row = i -> new Object[] {"io", "read", i, i % 1000, i % 10, i, "p"};
        record(Events.COLUMNS, 200_000, 32_768, 1 << 20, row);
        long narrow = Files.size(output);
        record(wide, 200_000, 32_768, 1 << 20, row);

        assertThat((Files.size(output) - narrow) / 100).isLessThan(300);
    }

    @Test
    void footerValuesAreStoredAsGivenBesideTheCounts() {
        StringDictionary texts = new StringDictionary();
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, texts, new RecordingFile.Options())) {
            file.describe(Map.of("zernel.format", "1"));
            file.finish(Map.of("zernel.format", "1", "zernel.recording", "{\"host\":\"\u00e4\"}"));
        }

        assertThat(Duck.query(output, """
                SELECT decode(key), decode(value) FROM parquet_kv_metadata($file) ORDER BY 1"""))
                .containsExactly(
                        asList("zernel.format", "1"),
                        asList("zernel.recording", "{\"host\":\"\u00e4\"}"),
                        asList("zernel.threads", "[]"));
    }

    @Test
    void anEarlierFileIsKeptUnderAnotherNameAtTheEnd() throws IOException {
        Files.writeString(output, "yesterday");
        Files.writeString(folder.resolve("run.1.parquet"), "the day before");
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            assertThat(output).hasContent("yesterday");
            assertThat(folder.resolve("run.2.parquet")).doesNotExist();
            file.finish(FOOTER);
            assertThat(file.takeNotice()).contains("kept the earlier recording as " + folder.resolve("run.2.parquet"));
            assertThat(file.takeNotice()).isEmpty();
        }
        assertThat(Duck.query(output, "SELECT count(*) FROM $file")).containsExactly(asList(0L));
        assertThat(folder.resolve("run.1.parquet")).hasContent("the day before");
        assertThat(folder.resolve("run.2.parquet")).hasContent("yesterday");
    }

    @Test
    void aRecordingThatIsGivenUpLeavesTheEarlierFileWhereItIs() throws IOException {
        Files.writeString(output, "yesterday");
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            file.discard();
        }
        assertThat(output).hasContent("yesterday");
        assertThat(folder).isDirectoryNotContaining("glob:**/run.1.parquet");
    }

    @ParameterizedTest
    @CsvSource({"run, run.1", ".parquet, .parquet.1", "a.b.parquet, a.b.1.parquet"})
    void theNumberStandsBeforeTheLastEnding(String name, String kept) throws IOException {
        output = folder.resolve(name);
        Files.writeString(output, "yesterday");
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            file.finish(FOOTER);
        }
        assertThat(folder.resolve(kept)).hasContent("yesterday");
    }

    @Test
    void aRecordingInUseIsRefusedWithItsPid() {
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            assertThat(file.events()).isZero();
            assertThatThrownBy(
                            () -> RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()))
                    .isInstanceOf(OutputException.class)
                    .hasMessage("recording to '%s': already being recorded by pid %d",
                            output, ProcessHandle.current().pid());
        }
    }

    @Test
    void aCrashedRecordingIsRefusedWithTheWayOut() {
        RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()).close();

        assertThatThrownBy(() -> RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()))
                .isInstanceOfSatisfying(OutputException.class, e -> {
                    assertThat(e.reason()).isEqualTo(OutputException.Reason.UNFINISHED);
                    assertThat(e).hasMessage("recording to '%1$s': an unfinished recording is in '%1$s.live'", output);
                    assertThat(e.hint()).isEqualTo("run zernel-record recover " + output + ", or remove the folder");
                });
    }

    @Test
    void aLinkIsNeverReplaced() throws IOException {
        Path target = Files.writeString(folder.resolve("precious"), "keep");
        Files.createSymbolicLink(output, target);

        assertThatThrownBy(() -> RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()))
                .hasMessage("recording to '%s': is a link", output);
        assertThat(folder).isDirectoryNotContaining("glob:**.live");
    }

    @Test
    void aPlantedLiveLinkIsNotFollowed() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(folder.resolve("run.parquet.live"), elsewhere);

        assertThatThrownBy(() -> RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()))
                .hasMessage("recording to '%s': 'run.parquet.live' is not a recorder's folder", output);
        assertThat(elsewhere).isEmptyDirectory();
    }

    @Test
    void aMissingFolderIsNamed() {
        Path lost = folder.resolve("no/run.parquet");

        assertThatThrownBy(() -> RecordingFile.create(lost, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()))
                .hasMessage("recording to '%s': there is no folder '%s'", lost, lost.getParent());
    }

    @Test
    void aRemovedLiveFolderEndsTheRecording() throws IOException {
        StringDictionary texts = new StringDictionary();
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, texts, new RecordingFile.Options())) {
            Path live = folder.resolve("run.parquet.live");
            for (Path entry : List.of(live.resolve("journal-000000.arrows"), live.resolve("lock"), live)) {
                Files.delete(entry);
            }
            assertThatThrownBy(() -> Events.write(file, Events.COLUMNS, texts, 1, 1, _ -> new Object[] {"io"}))
                    .isInstanceOfSatisfying(OutputException.class,
                            e -> assertThat(e.reason()).isEqualTo(OutputException.Reason.GONE));
        }
    }

    @Test
    void aRelativeNameWorks() throws IOException {
        Path relative = Path.of("target", "relative-run.parquet");
        Files.deleteIfExists(relative);
        try (RecordingFile file =
                RecordingFile.create(relative, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            file.finish(FOOTER);
        }
        assertThat(Duck.query(relative, "SELECT count(*) FROM $file")).containsExactly(asList(0L));
        Files.delete(relative);
    }

    private void record(
            List<Column> columns, long rows, int batchRows, int groupRows, LongFunction<Object[]> row) {
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(groupRows, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, columns, texts, options)) {
            Events.write(file, columns, texts, rows, batchRows, row);
            assertThat(file.events()).isEqualTo(rows);
            file.finish(FOOTER);
        }
    }
}
