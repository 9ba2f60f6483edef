package io.dyber.zernel.record.recording;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What only root can try: a full disk, and files for somebody else.
class RecordingFileIT {
    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() throws IOException {
        assumeThat(Files.getAttribute(Path.of("/proc/self"), "unix:uid")).as("needs root").isEqualTo(0);
    }

    @Test
    void aFullDiskKeepsWhatWasWritten() throws IOException, InterruptedException {
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder.toString()))
                .as("needs to mount a tmpfs")
                .isZero();
        try {
            Path output = folder.resolve("run.parquet");
            long events = fill(output);

            assertThat(events).isGreaterThan(20_000);
            assertThat(output).doesNotExist();
            assertThat(run("mount", "-o", "remount,size=60m", folder.toString())).isZero();
            assertThat(Recovery.recover(output).events()).isEqualTo(events);
            assertThat(Duck.query(output, "SELECT count(*), count(DISTINCT bytes), max(bytes) FROM $file"))
                    .containsExactly(asList(events, events, events - 1));
            assertThat(folder).isDirectoryNotContaining("glob:**.live");
        } finally {
            assertThat(run("umount", folder.toString())).isZero();
        }
    }

    @Test
    void aDiskWithoutRoomForAnEventIsLeftAsItWas() throws IOException, InterruptedException {
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder.toString()))
                .as("needs to mount a tmpfs")
                .isZero();
        try {
            Path output = folder.resolve("run.parquet");
            StringDictionary texts = new StringDictionary();
            try (RecordingFile file = RecordingFile.create(output, Events.COLUMNS, texts, new RecordingFile.Options())) {
                Files.write(folder.resolve("filler"), new byte[(int) Files.getFileStore(folder).getUsableSpace()]);
                writeUntilFull(file, output, texts);
                assertThat(finishInVain(file)).isEqualTo("there was no room for a single event");
            }
            assertThat(folder).isDirectoryNotContaining("glob:**.live");
        } finally {
            assertThat(run("umount", folder.toString())).isZero();
        }
    }

    /// The journal gives up its room for the segment, but something else, here a second name for it, has that. Where the
    /// last segment was whole when the disk was full, as in one of many runs, there is nothing to make room for.
    @Test
    void eventsWhoseJournalMadeRoomInVainAreSaidToBeLost() throws IOException, InterruptedException {
        long lost = 0;
        for (int i = 0; i < 10 && lost == 0; i++) {
            assumeThat(run("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder.toString()))
                    .as("needs to mount a tmpfs")
                    .isZero();
            try {
                lost = lostInVain();
            } finally {
                assertThat(run("umount", folder.toString())).isZero();
            }
        }
        assertThat(lost).isPositive();
    }

    private long lostInVain() throws IOException, InterruptedException {
        Path output = folder.resolve("run.parquet");
        StringDictionary texts = new StringDictionary();
        long accepted;
        String hint;
        try (RecordingFile file = RecordingFile.create(
                output, Events.COLUMNS, texts, new RecordingFile.Options(20_000, Optional.empty()))) {
            writeUntilFull(file, output, texts);
            accepted = file.events();
            linkJournals(folder.resolve("run.parquet.live"));
            hint = finishInVain(file);
        }
        assertThat(run("mount", "-o", "remount,size=60m", folder.toString())).isZero();
        long kept = Recovery.recover(output).events();
        long lost = accepted - kept;
        assertThat(hint).matches((lost == 0 ? "" : String.format("%,d events are lost; ", lost))
                + String.format("%,d events are kept: free \\d MB, then run zernel-record recover .*/run.parquet", kept));
        return lost;
    }

    private void linkJournals(Path live) throws IOException {
        try (Stream<Path> files = Files.list(live)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".arrows")).toList()) {
                Files.createLink(folder.resolve(file.getFileName()), file);
            }
        }
    }

    /// Files of 1.7 MB of which three are to be kept, on a disk of 8 MB: there is room for one, for what is joined to the
    /// next, that file itself and as much written meanwhile, but not for three and the one in work.
    @Test
    void aSeriesThatKeepsFilesGivesUpTheOldestWhenTheDiskIsFull() throws IOException, InterruptedException {
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder.toString()))
                .as("needs to mount a tmpfs")
                .isZero();
        try {
            Path output = folder.resolve("run.parquet");
            StringDictionary texts = new StringDictionary();
            SplittableRandom random = new SplittableRandom(1);
            RecordingFile.Options options =
                    new RecordingFile.Options(5_000, Optional.empty()).keeping(OptionalInt.of(3));
            boolean gaveUp = false;
            try (RecordingFile file = RecordingFile.create(output, Events.COLUMNS, texts, options)) {
                for (int part = 0; part < 10; part++) {
                    Events.write(file, Events.COLUMNS, texts, 200_000, 1000, n ->
                            new Object[] {"io", "read", n * 10, random.nextLong(), n % 13, n, null});
                    file.moveOut(file.cut(), part * 1_000_000_000L, Map.of("zernel.format", "1"));
                }
                Path last = file.finishSeries(10_000_000_000L, Map.of("zernel.format", "1"));
                assertThat(last).hasFileName("run-19700101T000010Z.parquet").exists();
                for (Optional<String> line = file.takeNotice(); line.isPresent(); line = file.takeNotice()) {
                    gaveUp |= line.get().startsWith("the disk is full: deleted run-19700101T00000");
                }
            }
            assertThat(gaveUp).isTrue();
            assertThat(folder.resolve("run-19700101T000009Z.parquet")).exists();
            assertThat(Duck.query(folder.resolve("run-19700101T000009Z.parquet"), "SELECT count(*) FROM $file"))
                    .containsExactly(asList(200_000L));
            assertThat(folder).isDirectoryNotContaining("glob:**.live");
        } finally {
            assertThat(run("umount", folder.toString())).isZero();
        }
    }

    /// A file could not be made because the disk was full; then what it is made of is forgotten, then there is room again.
    @Test
    void whatAWaitingFileNeedsIsNotForgotten() throws IOException, InterruptedException {
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder.toString()))
                .as("needs to mount a tmpfs")
                .isZero();
        try {
            StringDictionary texts = new StringDictionary();
            SplittableRandom random = new SplittableRandom(1);
            RecordingFile.Options options = new RecordingFile.Options(20_000, Optional.empty());
            try (RecordingFile file = RecordingFile.create(folder.resolve("run.parquet"), Events.COLUMNS, texts, options)) {
                Events.write(file, Events.COLUMNS, texts, 100_000, 1000, n ->
                        new Object[] {"io", "read", n * 10, random.nextLong(), n % 13, n, null});
                RecordingFile.CutPoint cutPoint = file.cut();
                Path filler = folder.resolve("filler");
                Files.write(filler, new byte[(int) Files.getFileStore(folder).getUsableSpace() - 300_000]);
                file.copyOut(cutPoint, 0, Map.of("zernel.format", "1"));
                file.forget(cutPoint);
                assertThatThrownBy(() -> file.finishSeries(1_000_000_000L, Map.of("zernel.format", "1")))
                        .isInstanceOf(OutputException.class);
                Files.delete(filler);
                Path _ = file.finishSeries(1_000_000_000L, Map.of("zernel.format", "1"));
            }
            assertThat(Duck.query(folder.resolve("run-19700101T000000Z.parquet"), "SELECT count(*) FROM $file"))
                    .containsExactly(asList(100_000L));
        } finally {
            assertThat(run("umount", folder.toString())).isZero();
        }
    }

    @Test
    void aFolderThatTheUserMayNotWriteToIsRefused() throws IOException {
        Path output = folder.resolve("run.parquet");
        RecordingFile.Options options = new RecordingFile.Options().withOwner(new RecordingFile.Owner(1234, 4321));
        assertThatThrownBy(() -> RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), options))
                .hasMessage("recording to '%s': user 1234 may not write to that folder", output);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void filesBelongToTheGivenUser() throws IOException {
        everybodyMayWrite();
        Path output = folder.resolve("run.parquet");
        RecordingFile.Options options = new RecordingFile.Options().withOwner(new RecordingFile.Owner(1234, 4321));
        try (RecordingFile file = RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), options)) {
            Path live = folder.resolve("run.parquet.live");
            assertThat(owner(live.resolve("journal-000000.arrows"))).isEqualTo("1234:4321");
            // Who gets the file may follow what is written, and change nothing.
            assertThat(owner(live)).isEqualTo("0:4321");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(live))).isEqualTo("rwxr-x---");
            file.finish(Map.of());
        }
        assertThat(owner(output)).isEqualTo("1234:4321");
    }

    @Test
    void whatACleanStopLeavesBelongsToTheUserToo() throws IOException {
        everybodyMayWrite();
        Path output = folder.resolve("run.parquet");
        RecordingFile.Options options = new RecordingFile.Options().withOwner(new RecordingFile.Owner(1234, 4321));
        RecordingFile.create(output, Events.COLUMNS, new StringDictionary(), options).close();
        assertThat(owner(folder.resolve("run.parquet.live"))).isEqualTo("1234:4321");

        assertThat(Recovery.recover(output).events()).isZero();
        assertThat(owner(output)).isEqualTo("1234:4321");
    }

    private void everybodyMayWrite() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    /// Writes until the disk is full, and finds no room to finish either; returns how many events had been accepted.
    private static long fill(Path output) {
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(20_000, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, Events.COLUMNS, texts, options)) {
            writeUntilFull(file, output, texts);
            assertThat(finishInVain(file)).matches(String.format(
                    "%,d events are kept: free \\d MB, then run zernel-record recover .*/run.parquet", file.events()));
            return file.events();
        }
    }

    private static void writeUntilFull(RecordingFile file, Path output, StringDictionary texts) {
        Batch batch = new Batch(Events.COLUMNS, 1000);
        SplittableRandom random = new SplittableRandom(1);
        assertThatThrownBy(() -> {
                    while (true) {
                        batch.clear();
                        while (!batch.isFull()) {
                            long n = file.events() + batch.rows();
                            Events.add(batch, texts, "io", "read", n * 10, random.nextLong(), n % 13, n, null);
                        }
                        file.write(batch);
                    }
                })
                .isInstanceOfSatisfying(OutputException.class, e -> {
                    assertThat(e.reason()).isEqualTo(OutputException.Reason.NO_SPACE);
                    assertThat(e).hasMessage("writing '%s': no space left on the disk", output);
                });
    }

    /// Returns the hint.
    private static String finishInVain(RecordingFile file) {
        OutputException refused = catchThrowableOfType(OutputException.class, () -> file.finish(Map.of()));
        assertThat(refused.reason()).isEqualTo(OutputException.Reason.NO_SPACE);
        return String.valueOf(refused.hint());
    }

    private static String owner(Path file) throws IOException {
        return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                + ":"
                + Files.getAttribute(file, "unix:gid", LinkOption.NOFOLLOW_LINKS);
    }

    private static int run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
