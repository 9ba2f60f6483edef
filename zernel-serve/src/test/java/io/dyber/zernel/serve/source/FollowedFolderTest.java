package io.dyber.zernel.serve.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class FollowedFolderTest {
    private static final long START = 1_700_000_000_000_000_000L;

    @TempDir
    private Path folder;

    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    @Test
    void theNewestIsReadAndThenEachThatBegins() throws Exception {
        WrittenRecording.write(folder.resolve("run-1.parquet"), """
                SELECT 'mark' AS kind, 'finished' AS name, %d AS ts_ns, 1 AS tid
                """.formatted(START));
        CompletableFuture<Void> reading;
        try (FollowedFolder followed = new FollowedFolder(folder)) {
            reading = CompletableFuture.runAsync(() -> read(followed));
            awaitSeen("finished");
            awaitWaiting(followed, "run-1.parquet");
            Path second = Files.createDirectory(folder.resolve("run-2.parquet.live"));
            try (WrittenJournal journal = new WrittenJournal(second.resolve("journal-000000.arrows"), 0)) {
                journal.add("mark", "second", START + 1, 1, 1).flush();
                awaitSeen("finished", "second");
                assertThat(followed.state().path()).endsWith("run-2.parquet");
                assertThat(followed.recorded()).hasValue(new EventSource.Recorded(second, true));
            }
            delete(second);
            awaitWaiting(followed, "run-2.parquet");
            assertThat(followed.nowNanos()).isGreaterThanOrEqualTo(START + 1);
            Path third = Files.createDirectory(folder.resolve("run-2.parquet.live"));
            try (WrittenJournal journal = new WrittenJournal(third.resolve("journal-000000.arrows"), 0)) {
                journal.add("mark", "third", START + 2, 1, 1).flush();
                awaitSeen("finished", "second", "third");
            }
        }
        reading.get(30, TimeUnit.SECONDS);
    }

    @Test
    void whoTheLastOneWasAboutIsKnownUntilTheNextOneSays() throws Exception {
        Path first = Files.createDirectory(folder.resolve("run-1.parquet.live"));
        Files.writeString(first.resolve("meta.json"), "{\"zernel.processes\": [{\"pid\": 7}]}");
        CompletableFuture<Void> reading;
        try (FollowedFolder followed = new FollowedFolder(folder)) {
            reading = CompletableFuture.runAsync(() -> read(followed));
            try (WrittenJournal journal = new WrittenJournal(first.resolve("journal-000000.arrows"), 0)) {
                journal.add("mark", "first", START, 1, 7).flush();
                awaitSeen("first");
            }
            assertThat(followed.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(7L);
            delete(first);
            awaitWaiting(followed, "run-1.parquet");
            assertThat(followed.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(7L);
            Path second = Files.createDirectory(folder.resolve("run-2.parquet.live"));
            try (WrittenJournal journal = new WrittenJournal(second.resolve("journal-000000.arrows"), 0)) {
                journal.add("mark", "second", START + 1, 1, 8).flush();
                awaitSeen("first", "second");
            }
            assertThat(followed.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(7L);
            Files.writeString(second.resolve("meta.json"), "{\"zernel.processes\": [{\"pid\": 8}]}");
            assertThat(followed.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(8L);
        }
        reading.get(5, TimeUnit.SECONDS);
    }

    @Test
    void aFileThatIsNoRecordingIsLeftOutAndSaid() throws Exception {
        Path file = Files.writeString(folder.resolve("x.parquet"), "garbage");
        CompletableFuture<Void> reading;
        try (FollowedFolder followed = new FollowedFolder(folder)) {
            reading = CompletableFuture.runAsync(() -> read(followed));
            for (int i = 0; i < 3000 && followed.state().note().startsWith("waiting"); i++) {
                Thread.sleep(10);
            }
            assertThat(followed.state().note())
                    .startsWith("opening '" + file + "': ")
                    .endsWith("; waiting for a recording to begin in " + folder);
            Path begun = Files.createDirectory(folder.resolve("run.parquet.live"));
            try (WrittenJournal journal = new WrittenJournal(begun.resolve("journal-000000.arrows"), 0)) {
                journal.add("mark", "first", START, 1, 1).flush();
                awaitSeen("first");
            }
        }
        reading.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aFileIsNoFolderToFollow() throws IOException {
        Path file = Files.writeString(folder.resolve("a.parquet"), "");
        assertThatThrownBy(() -> new FollowedFolder(file).close())
                .isInstanceOf(RecordingException.class)
                .hasMessage("following '" + file + "': not a folder");
    }

    private void read(FollowedFolder followed) {
        try {
            for (Optional<EventBatch> batch = followed.next(); batch.isPresent(); batch = followed.next()) {
                for (int row = 0; row < batch.get().rows(); row++) {
                    seen.add(batch.get().text(TextColumn.NAME, row));
                }
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitSeen(String... names) throws InterruptedException {
        for (int i = 0; i < 3000 && seen.size() < names.length; i++) {
            Thread.sleep(10);
        }
        assertThat(seen).containsExactly(names);
    }

    private void awaitWaiting(FollowedFolder followed, String ended) throws InterruptedException {
        String note = folder.resolve(ended) + " has ended; waiting for a recording to begin in " + folder;
        for (int i = 0; i < 3000 && !followed.state().note().equals(note); i++) {
            Thread.sleep(10);
        }
        assertThat(followed.state().note()).isEqualTo(note);
    }

    private static void delete(Path live) throws IOException {
        try (Stream<Path> files = Files.list(live)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(live);
    }
}
