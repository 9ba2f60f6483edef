package io.dyber.zernel.serve.source;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class TailTest {
    @TempDir
    private Path folder;

    private Path output;
    private Path live;
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void makeFolder() throws IOException {
        output = folder.resolve("run.parquet");
        live = Files.createDirectory(folder.resolve("run.parquet.live"));
    }

    @Test
    void newBatchesComeAsTheyAreWrittenAndNewWordsWithThem() throws Exception {
        try (WrittenJournal journal = new WrittenJournal(journal(0), 0);
                Tail tail = new Tail(output)) {
            CompletableFuture<Void> reading = follow(tail);
            journal.add("region", "first", 20, 5, 1).add("io", "read", 10, 5, 1).flush();
            await("io read 10", "region first 20");
            journal.add("wait", "futex", 30, 5, 1).flush();
            await("io read 10", "region first 20", "wait futex 30");
            assertThat(tail.state().ended()).isFalse();
            deleteFolder();
            reading.get(30, TimeUnit.SECONDS);
            assertThat(tail.state().ended()).isTrue();
            assertThat(tail.state().note()).isEqualTo("the recording has ended: " + output);
        }
    }

    @Test
    void finishedRowGroupsComeBeforeTheJournal() throws Exception {
        WrittenRecording.write(live.resolve("000000.parquet"), "SELECT 'io' AS kind, 'old' AS name, 1 AS ts_ns, 1 AS tid");
        Files.writeString(journal(0), "stale and broken");
        try (WrittenJournal journal = new WrittenJournal(journal(1), 1);
                Tail tail = new Tail(output)) {
            CompletableFuture<Void> reading = follow(tail);
            journal.add("io", "new", 2, 1, 1).flush();
            await("io old 1", "io new 2");
            deleteFolder();
            reading.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aJournalThatBecomesARowGroupIsReadOnce() throws Exception {
        try (Tail tail = new Tail(live)) {
            CompletableFuture<Void> reading = follow(tail);
            try (WrittenJournal first = new WrittenJournal(journal(0), 0)) {
                first.add("io", "a", 1, 1, 1).flush();
                await("io a 1");
                first.add("io", "b", 2, 1, 1).flush();
            }
            try (WrittenJournal second = new WrittenJournal(journal(1), 1)) {
                WrittenRecording.write(
                        live.resolve("000000.parquet"),
                        "SELECT 'io' AS kind, 'a' AS name, 1 AS ts_ns, 1 AS tid UNION ALL SELECT 'io', 'b', 2, 1");
                Files.delete(journal(0));
                second.add("io", "c", 3, 1, 1).flush();
                await("io a 1", "io b 2", "io c 3");
            }
            deleteFolder();
            reading.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aBatchThatIsHalfWrittenWaitsForItsOtherHalf() throws Exception {
        Path whole = folder.resolve("whole.arrows");
        long firstEnd;
        try (WrittenJournal journal = new WrittenJournal(whole, 0)) {
            journal.add("io", "a", 1, 1, 1).flush();
            firstEnd = journal.size();
            journal.add("io", "b", 2, 1, 1).flush();
        }
        byte[] bytes = Files.readAllBytes(whole);
        int half = (int) (firstEnd + bytes.length) / 2;
        try (FileChannel growing =
                        FileChannel.open(journal(0), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                Tail tail = new Tail(output)) {
            growing.write(ByteBuffer.wrap(bytes, 0, half));
            CompletableFuture<Void> reading = follow(tail);
            await("io a 1");
            growing.write(ByteBuffer.wrap(bytes, half, bytes.length - half));
            await("io a 1", "io b 2");
            deleteFolder();
            reading.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aRecorderThatDiedIsNoticedAndItsLastHalfBatchLeftOut() throws Exception {
        try (WrittenJournal journal = new WrittenJournal(journal(0), 0)) {
            journal.add("io", "a", 1, 1, 1).flush();
            journal.add("io", "b", 2, 1, 1).flush();
        }
        try (FileChannel cut = FileChannel.open(journal(0), StandardOpenOption.WRITE)) {
            cut.truncate(cut.size() - 20);
        }
        Files.writeString(live.resolve("lock"), "12345\n");
        try (Tail tail = new Tail(output)) {
            follow(tail).get(30, TimeUnit.SECONDS);
            assertThat(seen).containsExactly("io a 1");
            assertThat(tail.state().note()).startsWith("the recorder died; zernel-record recover ");
        }
    }

    @Test
    void closingEndsAWaitAtOnce() throws Exception {
        CompletableFuture<Void> reading;
        try (WrittenJournal journal = new WrittenJournal(journal(0), 0);
                Tail tail = new Tail(output)) {
            reading = follow(tail);
            journal.add("io", "a", 1, 1, 1).flush();
            await("io a 1");
        }
        reading.get(30, TimeUnit.SECONDS);
    }

    @Test
    void whatTheRecorderSaysOfProcessesIsThatOfItsLastWholeFile() throws Exception {
        try (Tail tail = new Tail(output)) {
            assertThat(tail.facts().processes()).isEmpty();
            Path description = live.resolve("meta.json");
            Files.writeString(description, "{\"zernel.processes\": [{\"pid\": 7, \"environment\": {\"RANK\": \"3\"}}]}");
            assertThat(tail.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(7L);
            Files.writeString(description, "{\"zernel.processes\": [");
            assertThat(tail.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(7L);
            Files.writeString(description, "{\"zernel.processes\": [{\"pid\": 7}, {\"pid\": 8}]}");
            assertThat(tail.facts().processes()).extracting(Footer.ProcessInfo::pid).containsExactly(7L, 8L);
        }
    }

    private Path journal(int number) {
        return live.resolve("journal-%06d.arrows".formatted(number));
    }

    private CompletableFuture<Void> follow(Tail tail) {
        return CompletableFuture.runAsync(() -> {
            try {
                for (Optional<EventBatch> batch = tail.next(); batch.isPresent(); batch = tail.next()) {
                    for (int row = 0; row < batch.get().rows(); row++) {
                        seen.add(batch.get().text(TextColumn.KIND, row) + " " + batch.get().text(TextColumn.NAME, row)
                                + " " + batch.get().number(LongColumn.TS_NS, row));
                    }
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /// Waits until exactly these events were seen, for at most 30 s.
    private void await(String... events) throws InterruptedException {
        for (int i = 0; i < 3000 && seen.size() < events.length; i++) {
            Thread.sleep(10);
        }
        assertThat(seen).containsExactly(events);
    }

    private void deleteFolder() throws IOException {
        try (Stream<Path> files = Files.list(live)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(live);
    }
}
