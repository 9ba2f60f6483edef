package io.dyber.zernel.record.recording;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.RecordingFile.CutPoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SeriesTest {
    /// 2026-11-21 11:00:00 UTC.
    private static final long ELEVEN = 1_795_258_800_000_000_000L;

    private static final long SECOND = 1_000_000_000L;

    @TempDir Path folder;
    private final StringDictionary texts = new StringDictionary();
    private Path output = Path.of("");
    private long written;

    @BeforeEach
    void nameOutput() {
        output = folder.resolve("run.parquet");
    }

    /// Seed and events per row group.
    @ParameterizedTest
    @CsvSource({"1, 1000", "2, 64", "3, 1000000"})
    void everyEventIsInExactlyOneFile(long seed, int rowGroupRows) {
        SplittableRandom random = new SplittableRandom(seed);
        try (RecordingFile file = create(new RecordingFile.Options(rowGroupRows, Optional.empty()))) {
            for (int part = 0; part < 8; part++) {
                write(file, random.nextInt(3000));
                file.moveOut(file.cut(), ELEVEN + part * SECOND, footer(part));
            }
            write(file, 10);
            assertThat(file.finishSeries(ELEVEN + 8 * SECOND, footer(8)))
                    .isEqualTo(folder.resolve("run-20261121T110008Z.parquet"));
        }

        assertThat(names()).hasSize(9).isSorted().first().isEqualTo("run-20261121T110000Z.parquet");
        assertThat(Duck.query(folder.resolve("run-*.parquet"), """
                SELECT count(*), count(DISTINCT bytes), min(bytes), max(bytes) FROM $file"""))
                .containsExactly(asList(written, written, 0L, written - 1));
        assertThat(Duck.query(folder.resolve("run-*.parquet"), """
                SELECT decode(value) FROM parquet_kv_metadata($file) WHERE decode(key) = 'zernel.part' ORDER BY file_name"""))
                .isEqualTo(List.of(
                        List.of("0"), List.of("1"), List.of("2"), List.of("3"), List.of("4"), List.of("5"), List.of("6"),
                        List.of("7"), List.of("8")));
    }

    @Test
    void aPartWithoutEventsIsAnEmptyTable() {
        try (RecordingFile file = create(new RecordingFile.Options())) {
            file.moveOut(file.cut(), ELEVEN, footer(0));
            Path _ = file.finishSeries(ELEVEN + SECOND, footer(1));
        }
        assertThat(Duck.query(folder.resolve("run-*.parquet"), "SELECT count(bytes) FROM $file"))
                .containsExactly(asList(0L));
        assertThat(names()).containsExactly("run-20261121T110000Z.parquet", "run-20261121T110001Z.parquet");
    }

    @Test
    void namesThatAreTakenGetANumber() throws IOException {
        Files.writeString(folder.resolve("run-20261121T110000Z.parquet"), "yesterday's");
        Files.createSymbolicLink(folder.resolve("run-20261121T110000Z_2.parquet"), folder.resolve("nowhere"));
        try (RecordingFile file = create(new RecordingFile.Options())) {
            file.moveOut(file.cut(), ELEVEN, footer(0));
            file.moveOut(file.cut(), ELEVEN + 1, footer(1));
            Path _ = file.finishSeries(ELEVEN + 2, footer(2));
        }
        assertThat(names()).containsExactly(
                "run-20261121T110000Z.parquet", "run-20261121T110000Z_2.parquet", "run-20261121T110000Z_3.parquet",
                "run-20261121T110000Z_4.parquet", "run-20261121T110000Z_5.parquet");
        assertThat(folder.resolve("run-20261121T110000Z.parquet")).hasContent("yesterday's");
    }

    @Test
    void theOldestFilesOfTheSeriesAreDeletedAndNothingElse() throws IOException {
        series(new RecordingFile.Options(), ELEVEN - 100 * SECOND, 3);
        Files.writeString(folder.resolve("run-20000101T000000Z.parquet"), "somebody's own, PAR1");
        Files.createDirectory(folder.resolve("run-20000102T000000Z.parquet"));
        Path precious = folder.resolve("precious.parquet");
        Files.copy(folder.resolve("run-20261121T105820Z.parquet"), precious);
        Files.createSymbolicLink(folder.resolve("run-20000103T000000Z.parquet"), precious);
        Files.copy(precious, folder.resolve("run-20000104T000000Z.parquet.bak"));
        Files.copy(precious, folder.resolve("other-run-20000105T000000Z.parquet"));

        series(new RecordingFile.Options().keeping(OptionalInt.of(2)), ELEVEN, 4);

        assertThat(names()).containsExactly(
                "other-run-20000105T000000Z.parquet", "precious.parquet", "run-20000101T000000Z.parquet",
                "run-20000102T000000Z.parquet", "run-20000103T000000Z.parquet", "run-20000104T000000Z.parquet.bak",
                "run-20261121T110002Z.parquet", "run-20261121T110003Z.parquet");
    }

    @Test
    void copiesShareTheirEventsUntilTheseAreForgotten() {
        try (RecordingFile file = create(new RecordingFile.Options())) {
            write(file, 100);
            CutPoint old = file.cut();
            write(file, 200);
            file.copyOut(file.cut(), ELEVEN, footer(0));
            file.forget(old);
            write(file, 300);
            file.copyOut(file.cut(), ELEVEN + SECOND, footer(1));
            Path _ = file.finishSeries(ELEVEN + 2 * SECOND, footer(2));
        }
        assertThat(Duck.query(folder.resolve("run-*.parquet"), """
                SELECT min(bytes), max(bytes), count(*) FROM read_parquet($file, filename = true)
                GROUP BY filename ORDER BY filename"""))
                .containsExactly(asList(0L, 299L, 300L), asList(100L, 599L, 500L), asList(100L, 599L, 500L));
    }

    @Test
    void aCrashLeavesTheFinishedPartsAndOneToRecover() {
        try (RecordingFile file = create(new RecordingFile.Options(1000, Optional.empty()))) {
            write(file, 2500);
            file.moveOut(file.cut(), ELEVEN, footer(0));
            file.describe(Map.of("zernel.recording", "{\"series\":{\"part\":2},\"started_ns\":" + (ELEVEN + SECOND) + "}"));
            write(file, 1500);
        }
        Path last = folder.resolve("run-20261121T110001Z.parquet");

        assertThat(Recovery.recover(output)).isEqualTo(new Recovery.Result(last, 1500, 1, 500, Optional.empty()));
        assertThat(names()).containsExactly("run-20261121T110000Z.parquet", "run-20261121T110001Z.parquet");
        assertThat(Duck.query(folder.resolve("run-*.parquet"), "SELECT count(*), count(DISTINCT bytes) FROM $file"))
                .containsExactly(asList(4000L, 4000L));
    }

    @Test
    void aPartThatWasBeingPublishedIsFinished() throws IOException {
        crashWithNote();

        assertThat(Recovery.recover(output).events()).isEqualTo(700);
        assertThat(names()).containsExactly("run-20261121T110000Z.parquet", "run-20261121T110001Z.parquet");
        assertThat(Duck.query(folder.resolve("run-20261121T110000Z.parquet"), """
                SELECT count(*), min(bytes), max(bytes),
                       (SELECT decode(value) FROM parquet_kv_metadata($file) WHERE decode(key) = 'zernel.part')
                FROM $file"""))
                .containsExactly(asList(300L, 0L, 299L, "1"));
        assertThat(Duck.query(folder.resolve("run-20261121T110001Z.parquet"), "SELECT min(bytes), max(bytes) FROM $file"))
                .containsExactly(asList(300L, 999L));
    }

    @Test
    void aPartThatWasPublishedIsNotRecoveredAgain() throws IOException {
        crashWithNote();
        Path published = folder.resolve("run-20261121T110000Z.parquet");
        Files.copy(folder.resolve("run.parquet.live/000000.parquet"), published);
        long size = Files.size(published);
        Files.delete(folder.resolve("run.parquet.live/000000.parquet"));

        assertThat(Recovery.recover(output).events()).isEqualTo(700);
        assertThat(published).hasSize(size);
        assertThat(Duck.query(folder.resolve("run-20261121T110001Z.parquet"), "SELECT min(bytes), max(bytes) FROM $file"))
                .containsExactly(asList(300L, 999L));
    }

    @Test
    void aNoteThatNamesSomethingElseIsRefused() throws IOException {
        crashWithNote();
        Path note = folder.resolve("run.parquet.live/part-000001.json");
        Files.writeString(note, Files.readString(note).replace("run-20261121T110000Z.parquet", "../../etc/passwd"));

        assertThatThrownBy(() -> Recovery.recover(output))
                .isInstanceOf(OutputException.class)
                .hasMessageContaining("names '../../etc/passwd'");
    }

    /// A recorder that was killed between dividing the recording after 300 events and publishing them.
    private void crashWithNote() throws IOException {
        try (RecordingFile file = create(new RecordingFile.Options())) {
            write(file, 300);
            assertThat(file.cut()).isEqualTo(new CutPoint(1, 300));
            write(file, 700);
            file.describe(Map.of("zernel.recording", "{\"series\":{\"part\":2},\"started_ns\":" + (ELEVEN + SECOND) + "}"));
        }
        Files.writeString(folder.resolve("run.parquet.live/part-000001.json"), """
                {"zernel.part": 1,
                 "part": {"file": "run-20261121T110000Z.parquet", "from": 0, "to": 1, "moved": true, "events": 300}}""");
    }

    private void series(RecordingFile.Options options, long start, int parts) {
        try (RecordingFile file = create(options)) {
            for (int part = 0; part < parts - 1; part++) {
                write(file, 10);
                file.moveOut(file.cut(), start + part * SECOND, footer(part));
            }
            Path _ = file.finishSeries(start + (parts - 1) * SECOND, footer(parts - 1));
        }
    }

    private RecordingFile create(RecordingFile.Options options) {
        return RecordingFile.create(output, Events.COLUMNS, texts, options);
    }

    private void write(RecordingFile file, int rows) {
        long first = written;
        Events.write(file, Events.COLUMNS, texts, rows, 100, row ->
                new Object[] {"io", "read", (first + row) * 10, 5L, (first + row) % 3, first + row, "file"});
        written += rows;
    }

    private static Map<String, String> footer(int part) {
        return Map.of("zernel.format", "1", "zernel.part", Integer.toString(part));
    }

    private List<String> names() {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
