package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingsTest {
    @TempDir
    Path folder;

    @Test
    void aFinishedFileHasItsEventsAndFooter() {
        Path file = recording().region("Optimizer.step#SGD.step", 5, 2).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("SELECT name, dur_ns, recording FROM events").toString())
                    .isEqualTo("name\tdur_ns\trecording\nOptimizer.step#SGD.step\t2000000\t0");
            Recording recording = database.recordings().getFirst();
            assertThat(recording.rows()).isEqualTo(1);
            assertThat(recording.state()).isEqualTo(Recording.State.FINISHED);
            assertThat(recording.footer().recording().host()).isEqualTo("box");
            assertThat(recording.footer().kinds().getFirst().state()).isEqualTo("attached");
            assertThat(recording.incompleteBecause()).isEmpty();
        }
    }

    @Test
    void aKindHasAViewWithOnlyItsColumns() {
        Path file = recording().io(1, 2, 4096).region("a", 1, 1).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            Table table = database.query("SELECT * FROM io");
            assertThat(table.columns()).extracting(Table.Column::name)
                    .containsExactlyInAnyOrder("kind", "name", "ts_ns", "dur_ns", "pid", "tid", "cpu", "comm", "status", "fd",
                            "bytes", "recording");
            assertThat(table.rows()).hasSize(1);
        }
    }

    @Test
    void aColumnThatAnOlderFileLacksIsNull() {
        Path file = recording().region("a", 1, 1).alter("ALTER TABLE events DROP COLUMN bytes")
                .write(folder.resolve("old.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("SELECT bytes, typeof(bytes) AS type FROM events").toString())
                    .isEqualTo("bytes\ttype\nnull\tBIGINT");
        }
    }

    @Test
    void aColumnThatAUsersProbeAddedIsKept() {
        Path file = recording().region("a", 1, 1).alter("ALTER TABLE events ADD COLUMN mine BIGINT DEFAULT 7")
                .write(folder.resolve("new.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("SELECT mine FROM events").toString()).isEqualTo("mine\n7");
        }
    }

    @Test
    void aFileThatIsNamedTwiceIsOpenedOnce() {
        recording().region("a", 1, 1).write(folder.resolve("rank0.parquet"));
        recording().region("b", 1, 1).write(folder.resolve("rank1.parquet"));
        try (Database database = Recordings.open(folder + "/*.parquet", folder + "/./rank1.parquet", folder.toString())) {
            assertThat(database.query("SELECT recording, name FROM events ORDER BY ALL").toString())
                    .isEqualTo("recording\tname\n0\ta\n1\tb");
        }
    }

    @Test
    void severalFilesAreToldApartByRecording() {
        recording().region("a", 1, 1).write(folder.resolve("rank0.parquet"));
        recording().region("b", 1, 1).alter("ALTER TABLE events DROP COLUMN fd").write(folder.resolve("rank1.parquet"));
        try (Database database = Recordings.open(folder + "/rank*.parquet")) {
            assertThat(database.query("SELECT recording, name FROM events ORDER BY ALL").toString())
                    .isEqualTo("recording\tname\n0\ta\n1\tb");
        }
    }

    @Test
    void globCharactersInAFileNameAreLiteral() {
        Path file = recording().region("a", 1, 1).write(folder.resolve("run[1].parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.rows()).isEqualTo(1);
        }
    }

    @Test
    void aMissingFileSaysHowToMakeOne() {
        assertThatThrownBy(() -> Recordings.open("nowhere.parquet").close())
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening 'nowhere.parquet': no such file");
    }

    @Test
    void anEmptyFileIsNamed() throws IOException {
        Path file = Files.createFile(folder.resolve("empty.parquet"));
        assertThatThrownBy(() -> Recordings.open(file.toString()).close())
                .hasMessage("opening '" + file + "': the file is empty");
    }

    @Test
    void aTextFileIsNotParquet() throws IOException {
        Path file = Files.writeString(folder.resolve("notes.txt"), "no parquet here");
        assertThatThrownBy(() -> Recordings.open(file.toString()).close())
                .hasMessage("opening '" + file + "': not a Parquet file");
    }

    @Test
    void aTruncatedFileIsNamed() throws IOException {
        Path file = recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
        assertThatThrownBy(() -> Recordings.open(file.toString()).close())
                .hasMessage("opening '" + file + "': the file has no footer: truncated, or still being copied");
    }

    @Test
    void aPlainParquetFileIsToldWhichColumnsItLacks() {
        Path file = recording().footer("zernel.format", null)
                .alter("ALTER TABLE events DROP COLUMN kind").alter("ALTER TABLE events DROP COLUMN ts_ns")
                .alter("ALTER TABLE events ADD COLUMN x BIGINT")
                .write(folder.resolve("plain.parquet"));
        assertThatThrownBy(() -> Recordings.open(file.toString()).close())
                .hasMessage("opening '" + file + "': not a recording: columns missing: kind, ts_ns");
    }

    @Test
    void aFileOfANewerFormatIsRefused() {
        Path file = recording().footer("zernel.format", "2").write(folder.resolve("run.parquet"));
        assertThatThrownBy(() -> Recordings.open(file.toString()).close())
                .hasMessage("opening '" + file + "': it has format 2, newer than 1");
    }

    @Test
    void anEmptyRecordingOpensButHasNothingToAnalyze() {
        Path file = recording().write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThatThrownBy(database::requireEvents)
                    .hasMessage("reading '" + file + "': the recording has no events");
        }
    }

    @Test
    void footerMembersThatAreMissingAreNullOrEmpty() {
        Path file = recording().footer("zernel.recording", "{\"host\":\"x\",\"some_future_member\":[1]}")
                .footer("zernel.kinds", null).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            Footer footer = database.recordings().getFirst().footer();
            assertThat(footer.recording().command()).isEmpty();
            assertThat(footer.kinds()).isEmpty();
            assertThat(footer.clock()).isNull();
            assertThat(database.recordings().getFirst().incompleteBecause()).isEqualTo(List.of("no reason given"));
        }
    }

    @Test
    void aLiveFolderIsReadWhereTheFileIsMissing() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        recording().region("a", 1, 1).write(live.resolve("000000.parquet"));
        recording().region("b", 2, 1).write(live.resolve("000001.parquet"));
        Files.writeString(live.resolve("meta.json"), "{\"zernel.format\":1,\"zernel.recording\":{\"host\":\"box\"}}");
        try (Database database = Recordings.open(folder.resolve("run.parquet").toString())) {
            assertThat(database.query("SELECT name FROM events ORDER BY ts_ns").toString()).isEqualTo("name\na\nb");
            assertThat(database.recordings().getFirst().state()).isEqualTo(Recording.State.UNFINISHED);
            assertThat(database.recordings().getFirst().footer().recording().host()).isEqualTo("box");
        }
    }

    @Test
    void aLiveFolderIsSaidToBeAbandonedOrStillRecorded() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        recording().region("a", 1, 1).write(live.resolve("000000.parquet"));
        assertThat(note(live)).isEqualTo("its recorder died; to make it one file: zernel-record recover " + folder
                + "/run.parquet");
        try (FileChannel lock = FileChannel.open(live.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertThat(lock.tryLock()).isNotNull();
            assertThat(note(live)).isEqualTo("still being recorded: this is what it holds so far");
        }
    }

    @Test
    void eventsBeforeAMomentAreLeftOut() {
        Path file = recording().region("a", 1, 1).region("b", 2, 1).region("c", 3, 1).write(folder.resolve("run.parquet"));
        assertThat(namesFrom(file, 2)).isEqualTo("b\nc");
    }

    @Test
    void rowGroupsFromBeforeAMomentAreNotEvenOpened() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        Files.writeString(live.resolve("000000.parquet"), "not Parquet");
        recording().region("a", 1, 1).region("b", 2, 1).write(live.resolve("000001.parquet"));
        recording().region("c", 3, 1).region("d", 4, 1).write(live.resolve("000002.parquet"));
        recording().region("e", 5, 1).write(live.resolve("000003.parquet"));
        assertThat(namesFrom(live, 4)).isEqualTo("d\ne");
        assertThat(namesFrom(live, 6)).isEmpty();
    }

    private static String namesFrom(Path recording, long millisecond) {
        DatabaseOptions options = DatabaseOptions.defaults()
                .withEventsFrom(RecordingFixture.START_NS + millisecond * 1_000_000);
        try (Database database = Recordings.open(List.of(recording.toString()), options)) {
            return String.join("\n", database.query("SELECT name FROM events ORDER BY ts_ns").texts("name"));
        }
    }

    private static String note(Path live) {
        try (Database database = Recordings.open(live.toString())) {
            return String.valueOf(database.recordings().getFirst().note());
        }
    }

    @Test
    void aLiveFolderWithoutEventsIsAnError() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        assertThatThrownBy(() -> Recordings.open(live.toString()).close())
                .hasMessage("opening '" + live + "': no events were saved in it");
    }
}
