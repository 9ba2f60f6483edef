package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.format.LiveFolder.RowGroup;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LiveFolderTest {
    @TempDir
    private Path folder;

    @Test
    void itIsNamedAfterTheOutput() {
        LiveFolder live = LiveFolder.of(Path.of("runs/run.parquet"));
        assertThat(live.path()).isEqualTo(Path.of("runs/run.parquet.live"));
        assertThat(live.output()).isEqualTo(Path.of("runs/run.parquet"));
        assertThat(LiveFolder.of(live.path())).isEqualTo(live);
        assertThat(new LiveFolder(Path.of("renamed")).output()).isEqualTo(Path.of("renamed"));
    }

    @Test
    void filesAreNumbered() {
        assertThat(LiveFolder.segmentName(18)).isEqualTo("000018.parquet");
        assertThat(LiveFolder.journalName(1_000_000)).isEqualTo("journal-1000000.arrows");
        assertThat(LiveFolder.segmentNumber("000018.parquet")).hasValue(18);
        assertThat(LiveFolder.journalNumber("journal-1000000.arrows")).hasValue(1_000_000);
        assertThat(LiveFolder.segmentNumber("000018.parquet.tmp")).isEmpty();
        assertThat(LiveFolder.segmentNumber("18.parquet")).isEmpty();
        assertThat(LiveFolder.journalNumber("000018.parquet")).isEmpty();
        assertThat(LiveFolder.journalNumber("journal-9999999999.arrows")).isEmpty();
    }

    @Test
    void itIsToldByItsNameOrByWhatIsInIt() throws IOException {
        Path copied = Files.createDirectory(folder.resolve("copied"));
        assertThat(LiveFolder.isOne(copied)).isFalse();
        Files.writeString(copied.resolve("meta.json"), "{}");
        assertThat(LiveFolder.isOne(copied)).isTrue();
        assertThat(LiveFolder.isOne(folder.resolve("run.parquet.live"))).isFalse();
        assertThat(LiveFolder.isOne(made().path())).isTrue();
    }

    @Test
    void rowGroupsAreInTheirOrderAndFinishedWhereTheFileIsThere() throws IOException {
        LiveFolder live = made();
        for (String name : new String[] {
            "journal-1000000.arrows", "000002.parquet", "journal-000002.arrows", "journal-000010.arrows",
            "000001.parquet", "000003.parquet.tmp", "meta.json", "lock", "part-000002.json", "output.tmp"
        }) {
            Files.createFile(live.path().resolve(name));
        }
        Files.createDirectory(live.path().resolve("000004.parquet"));
        assertThat(live.rowGroups()).containsExactly(
                new RowGroup(1, true), new RowGroup(2, true), new RowGroup(10, false), new RowGroup(1_000_000, false));
    }

    @Test
    void aFolderThatIsGoneHasNoneAndNoKey() {
        LiveFolder live = new LiveFolder(folder.resolve("run.parquet.live"));
        assertThatThrownBy(live::rowGroups).isInstanceOf(NoSuchFileException.class);
        assertThat(live.exists()).isFalse();
        assertThat(live.key()).isEmpty();
    }

    @Test
    void aFolderMadeAnewHasAnotherKey() throws IOException {
        LiveFolder live = made();
        Object key = live.key().orElseThrow();
        Files.move(live.path(), folder.resolve("kept"));
        assertThat(made().key()).isPresent().get().isNotEqualTo(key);
    }

    @Test
    void theLockSaysWhetherItsRecorderLives() throws IOException {
        LiveFolder live = made();
        assertThat(live.isHeld()).isFalse();
        assertThat(live.isAbandoned()).isFalse();
        try (FileChannel lock = FileChannel.open(
                live.path().resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertThat(live.isHeld()).isFalse();
            assertThat(live.isAbandoned()).isTrue();
            assertThat(lock.tryLock()).isNotNull();
            assertThat(live.isHeld()).isTrue();
            assertThat(live.isAbandoned()).isFalse();
        }
        assertThat(live.isAbandoned()).isTrue();
    }

    private LiveFolder made() throws IOException {
        return new LiveFolder(Files.createDirectory(folder.resolve("run.parquet.live")));
    }
}
