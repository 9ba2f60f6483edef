package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.event.StringDictionary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What somebody else may have put where a recorder writes and reads. It often runs as root, and must not be led into
/// files that are not its own.
class HostileFolderTest {
    @TempDir
    Path folder;

    private Path output;
    private Path live;
    private Path precious;

    @BeforeEach
    void prepare() throws IOException {
        output = folder.resolve("run.parquet");
        live = folder.resolve("run.parquet.live");
        precious = Files.writeString(folder.resolve("precious"), "precious");
    }

    private void record() {
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            file.finish(Map.of());
        }
    }

    private void crash() {
        RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options()).close();
    }

    @Test
    void aLinkAtTheOutputIsNotFollowed() throws IOException {
        Files.createSymbolicLink(output, precious);
        assertThatThrownBy(this::record).hasMessage("recording to '%s': is a link", output);
        assertThat(precious).hasContent("precious");
        assertThat(live).doesNotExist();
    }

    @Test
    void aLinkThatAppearsAtTheOutputMeanwhileIsNotFollowed() throws IOException {
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            Files.createSymbolicLink(output, precious);
            assertThatThrownBy(() -> file.finish(Map.of())).isInstanceOf(OutputException.class);
        }
        assertThat(precious).hasContent("precious");
    }

    @Test
    void aHardLinkAtTheOutputIsReplacedAndNotWrittenThrough() throws IOException {
        Files.createLink(output, precious);
        record();
        assertThat(precious).hasContent("precious");
        assertThat(Duck.query(output, "SELECT count(*) FROM $file").getFirst()).containsExactly(0L);
    }

    @Test
    void whatIsBeingRecordedIsForItsOwnerAlone() throws IOException {
        crash();
        assertThat(Files.getPosixFilePermissions(live)).isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void aPipeAtTheOutputIsNotOpened() throws Exception {
        pipe(output);
        assertThatThrownBy(this::record).hasMessage("recording to '%s': is not a file", output);
    }

    @Test
    void aLinkInPlaceOfTheLiveFolderIsNotFollowed() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(live, elsewhere);
        assertThatThrownBy(this::record)
                .hasMessage("recording to '%s': 'run.parquet.live' is not a recorder's folder", output);
        assertThatThrownBy(() -> Recovery.recover(output)).isInstanceOf(OutputException.class);
        assertThat(elsewhere).isEmptyDirectory();
    }

    @Test
    void aFolderThatSwapsItsPlaceWithALinkGetsNothing() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        try (RecordingFile file =
                RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), new RecordingFile.Options())) {
            Files.move(live, folder.resolve("moved"));
            Files.createSymbolicLink(live, elsewhere);
            file.describe(Map.of("zernel.format", "1"));
            assertThat(folder.resolve("moved/meta.json")).exists();
        }
        assertThat(elsewhere).isEmptyDirectory();
    }

    @Test
    void recoveryReadsNoLinkAndWaitsForNoPipe() throws Exception {
        crash();
        Path journal = live.resolve("journal-000000.arrows");
        Files.delete(journal);
        Files.createSymbolicLink(journal, precious);
        assertThatThrownBy(() -> Recovery.recover(output)).hasMessageEndingWith("'journal-000000.arrows' is not a file");
        Files.delete(journal);
        pipe(journal);
        assertThatThrownBy(() -> Recovery.recover(output)).hasMessageEndingWith("'journal-000000.arrows' is not a file");
        Files.delete(journal);
        pipe(live.resolve("000000.parquet"));
        assertThatThrownBy(() -> Recovery.recover(output)).hasMessageEndingWith("'000000.parquet' is not a file");
    }

    private static void pipe(Path path) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor()).isZero();
    }
}
