package io.dyber.zernel.record.recording;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.event.StringDictionary;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecoveryTest {
    @TempDir Path folder;
    private Path output;

    @BeforeEach
    void nameOutput() {
        output = folder.resolve("run.parquet");
    }

    @Test
    void segmentsAndJournalBecomeOneFile() {
        crash(2500, Map.of("zernel.recording", """
                {"host":"here","ended_ns":null,"incomplete_because":["3 events were lost"]}"""));

        assertThat(Recovery.recover(output)).isEqualTo(new Recovery.Result(output, 2500, 2, 500, Optional.empty()));
        assertThat(Duck.query(output, "FROM $file ORDER BY ts_ns").stream().map(List::toArray))
                .containsExactlyElementsOf(
                        LongStream.range(0, 2500).mapToObj(RecoveryTest::row).toList());
        assertThat(Duck.query(output, """
                SELECT decode(value) FROM parquet_kv_metadata($file) WHERE decode(key) = 'zernel.recording'"""))
                .containsExactly(asList(
                        "{\"host\":\"here\",\"ended_ns\":3499,\"incomplete_because\":[\"3 events were lost\","
                                + "\"the recorder ended without finishing; what it had not written by then is missing\"],"
                                + "\"stop\":\"recovered\",\"complete\":false,\"events\":2500}"));
        assertThat(folder).isDirectoryNotContaining("glob:**.live");
    }

    @Test
    void aCrashBeforeTheFirstEventGivesAnEmptyFile() {
        crash(0, Map.of());

        assertThat(Recovery.recover(folder.resolve("run.parquet.live")).events()).isZero();
        assertThat(Duck.query(output, "SELECT count(bytes) FROM $file")).containsExactly(asList(0L));
    }

    @Test
    void aJournalWhoseSegmentExistsIsNotCountedTwice() throws IOException {
        crash(1500, Map.of());
        Path live = folder.resolve("run.parquet.live");
        Files.copy(live.resolve("journal-000001.arrows"), live.resolve("journal-000000.arrows"));

        assertThat(Recovery.recover(output).events()).isEqualTo(1500);
    }

    @Test
    void leftoversOfAnInterruptedWriteAreIgnored() throws IOException {
        crash(1500, Map.of());
        Path live = folder.resolve("run.parquet.live");
        Files.writeString(live.resolve("000001.parquet.tmp"), "PAR1 half");
        Files.writeString(live.resolve("output.tmp"), "PAR1 half");
        Files.writeString(live.resolve("meta.json"), "{\"zernel.rec");

        assertThat(Recovery.recover(output).events()).isEqualTo(1500);
    }

    @Test
    void aFileFromBeforeTheCrashedRecordingIsKeptUnderAnotherName() throws IOException {
        Files.writeString(output, "yesterday");
        Files.setLastModifiedTime(output, FileTime.from(Instant.now().minusSeconds(86_400)));
        crash(10, Map.of());

        assertThat(Recovery.recover(output).kept()).contains(folder.resolve("run.1.parquet"));
        assertThat(folder.resolve("run.1.parquet")).hasContent("yesterday");
        assertThat(Duck.query(output, "SELECT count(*) FROM $file")).containsExactly(asList(10L));
    }

    @Test
    void aFileThatMayBeTheRecordingItselfIsNotTouched() throws IOException {
        crash(10, Map.of());
        Files.writeString(output, "precious");

        assertThatThrownBy(() -> Recovery.recover(output))
                .hasMessage("recovering '%s': the file exists already", output);
        assertThat(output).hasContent("precious");
    }

    @Test
    void aLiveRecorderIsLeftAlone() {
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            assertThat(file.bytes()).isPositive();
            assertThatThrownBy(() -> Recovery.recover(output))
                    .hasMessage("recovering '%s': already being recorded by pid %d",
                            output, ProcessHandle.current().pid());
        }
    }

    @Test
    void nothingToRecoverIsSaid() {
        assertThatThrownBy(() -> Recovery.recover(output))
                .hasMessage("recovering '%1$s': there is no '%1$s.live' of a recorder", output);
    }

    /// After how many events the recorder is killed; row groups have 20,000.
    @ParameterizedTest
    @ValueSource(longs = {1000, 15_000, 21_000, 400_000})
    void killingTheRecorderLosesNothingItHadWritten(long enough) throws Exception {
        Process recorder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                EndlessRecorder.class.getName(),
                                output.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        long safe = 0;
        try (BufferedReader lines = recorder.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                safe = Long.parseLong(line);
                if (safe >= enough) {
                    boolean _ = recorder.toHandle().destroyForcibly();
                }
            }
        }
        assertThat(recorder.waitFor()).isEqualTo(137);

        long events = Recovery.recover(output).events();
        assertThat(events).isGreaterThanOrEqualTo(safe);
        assertThat(Duck.query(output, """
                SELECT count(*), count(DISTINCT bytes), min(bytes), max(bytes),
                       count(*) FILTER (ts_ns <> bytes * 10 OR dur_ns <> bytes % 7 OR tid <> bytes % 13
                                        OR path <> 'path ' || bytes // 100 OR kind <> 'io' OR name <> 'read')
                FROM $file""")).containsExactly(asList(events, events, 0L, events - 1, 0L));
    }

    private static Object[] row(long number) {
        return new Object[] {"io", "read", 1000 + number, number % 5, number % 3, number, "file " + number};
    }

    /// Row groups of 1000 in batches of 100.
    private void crash(long rows, Map<String, String> footer) {
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(1000, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, Events.COLUMNS, texts, options)) {
            file.describe(footer);
            Events.write(file, Events.COLUMNS, texts, rows, 100, RecoveryTest::row);
        }
    }
}
