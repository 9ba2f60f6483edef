package io.dyber.zernel.serve.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class ReplayTest {
    private static final long START = 1_700_000_000_000_000_000L;
    private static final long HOUR = 3_600_000_000_000L;

    @TempDir
    private Path folder;

    @Test
    void everyEventComesOnceInTheOrderOfItsStart() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'io' AS kind, 'read' AS name, %d + (i * 7919 %% 500000) * 1000 AS ts_ns, 5 AS dur_ns, 1 AS pid,
                       i %% 7 AS tid, i AS bytes
                FROM range(500000) AS r(i)
                """.formatted(START));
        List<Long> starts = new ArrayList<>();
        long bytes = 0;
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.MAX))) {
            for (Optional<EventBatch> batch = replay.next(); batch.isPresent(); batch = replay.next()) {
                for (int row = 0; row < batch.get().rows(); row++) {
                    starts.add(batch.get().number(LongColumn.TS_NS, row));
                    bytes += batch.get().number(LongColumn.BYTES, row);
                }
            }
            assertThat(replay.state().ended()).isTrue();
            assertThat(replay.state().note()).isEqualTo("the replay has ended");
        }
        assertThat(starts).hasSize(500_000).isSorted();
        assertThat(bytes).isEqualTo(124_999_750_000L);
    }

    @Test
    void eventTimePassesAtTheSpeedAskedFor() throws Exception {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), START, 40);
        long before = System.nanoTime();
        long rows = 0;
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.parse("4x")))) {
            for (Optional<EventBatch> batch = replay.next(); batch.isPresent(); batch = replay.next()) {
                rows += batch.get().rows();
                long wall = System.nanoTime() - before;
                long last = batch.get().number(LongColumn.TS_NS, batch.get().rows() - 1);
                assertThat(last - START).isLessThanOrEqualTo(wall * 4);
                assertThat(replay.nowNanos()).isGreaterThanOrEqualTo(last);
            }
        }
        assertThat(rows).isEqualTo(200);
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .isBetween(Duration.ofMillis(990), Duration.ofSeconds(30));
    }

    @Test
    void aLoopStartsAgainAndTimeMovesOn() throws Exception {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), START, 2);
        List<Long> starts = new ArrayList<>();
        try (Replay replay = new Replay(file, loop())) {
            while (starts.size() < 30) {
                EventBatch batch = replay.next().orElseThrow();
                for (int row = 0; row < batch.rows(); row++) {
                    starts.add(batch.number(LongColumn.TS_NS, row));
                }
            }
            assertThat(replay.state().note()).startsWith("round ");
        }
        assertThat(starts.subList(0, 30)).isSorted();
        assertThat(starts.get(10)).isEqualTo(START + 190_000_001L);
    }

    @Test
    void closingEndsAWaitAtOnce() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'mark' AS kind, 'a' AS name, %d + i * 3600000000000 AS ts_ns, 1 AS tid FROM range(2) AS r(i)
                """.formatted(START));
        CompletableFuture<Optional<EventBatch>> second;
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.REAL_TIME))) {
            assertThat(replay.next()).isPresent();
            second = CompletableFuture.supplyAsync(() -> nextOf(replay));
            assertThat(second).isNotDone();
        }
        assertThat(second.get(30, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aRecordingWithoutEventsEndsAndSaysSo() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'io' AS kind, 'read' AS name, CAST(0 AS BIGINT) AS ts_ns, 1 AS tid WHERE false
                """);
        try (Replay replay = new Replay(file, loop())) {
            assertThat(replay.next()).isEmpty();
            assertThat(replay.state().note()).isEqualTo("the recording has no events");
        }
    }

    @Test
    void aPausedReplayGoesOnWhereItWas() throws Exception {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), START, 40);
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.parse("8x")))) {
            Playback playback = replay.playback().orElseThrow();
            assertThat(replay.next()).isPresent();
            playback.pause(true);
            long paused = replay.nowNanos();
            CompletableFuture<List<Long>> rest = CompletableFuture.supplyAsync(() -> startsOf(replay));
            Thread.sleep(300); // 2.4 s of the recording's 4
            assertThat(replay.nowNanos()).isEqualTo(paused);
            assertThat(replay.state().note()).isEqualTo("paused");
            playback.pause(false);
            assertThat(rest.get(30, TimeUnit.SECONDS)).isSorted().hasSizeGreaterThan(150);
            assertThat(playback.status().positionS()).isEqualTo(3.99);
        }
    }

    @Test
    void goingForwardAppliesWhatLiesBetweenAtOnce() throws Exception {
        Path file = hours(10);
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.REAL_TIME))) {
            Playback playback = replay.playback().orElseThrow();
            assertThat(events(replay).number(LongColumn.TS_NS, 0)).isEqualTo(START);
            playback.seek(5 * HOUR + HOUR / 2);
            for (int hour = 1; hour <= 5; hour++) {
                assertThat(events(replay).number(LongColumn.TS_NS, 0)).isEqualTo(START + hour * HOUR);
            }
            CompletableFuture<EventBatch> sixth = CompletableFuture.supplyAsync(() -> events(replay));
            awaitPosition(playback, 5.5 * 3600);
            assertThat(sixth).isNotDone();
            playback.speed(Speed.MAX);
            assertThat(sixth.get(30, TimeUnit.SECONDS).rows()).isOne();
        }
    }

    @Test
    void goingBackStartsOverAlsoAfterTheEnd() throws Exception {
        Path file = hours(3);
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.MAX))) {
            Playback playback = replay.playback().orElseThrow();
            assertThat(startsOf(replay)).hasSize(3);
            assertThat(replay.state().ended()).isTrue();
            playback.pause(true);
            playback.seek(HOUR);
            assertThat(replay.awaitMore()).isTrue();
            assertThat(replay.next().orElseThrow().startsOver()).isTrue();
            assertThat(events(replay).number(LongColumn.TS_NS, 0)).isEqualTo(START);
            assertThat(events(replay).number(LongColumn.TS_NS, 0)).isEqualTo(START + HOUR);
            assertThat(replay.state().ended()).isFalse();
        }
    }

    @Test
    void theSecondsOfASilenceComeOneByOne() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'io' AS kind, 'read' AS name, %d + i * 3500000000 AS ts_ns, 5 AS dur_ns, 1 AS pid, 1 AS tid
                FROM range(2) AS r(i)
                """.formatted(START));
        List<Long> seconds = new ArrayList<>();
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.MAX))) {
            assertThat(replay.next().orElseThrow().rows()).isOne();
            EventBatch batch = replay.next().orElseThrow();
            for (; batch.rows() == 0; batch = replay.next().orElseThrow()) {
                seconds.add((batch.untilNanos() - START) / 1_000_000_000);
            }
            assertThat(batch.number(LongColumn.TS_NS, 0)).isEqualTo(START + 3_500_000_000L);
        }
        assertThat(seconds).containsExactly(1L, 2L, 3L);
    }

    @Test
    void ofObjectsOnlyThoseOfGpuSamplesAreRead() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT kind, 'x' AS name, %d + i AS ts_ns, 1 AS pid, 1 AS tid, object
                FROM (VALUES (0, 'gpu_sample', '3'), (1, 'wait', 'pipe:[7]'), (2, 'gpu_sample', NULL)) AS r(i, kind, object)
                """.formatted(START));
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.MAX))) {
            EventBatch batch = events(replay);
            assertThat(batch.text(TextColumn.OBJECT, 0)).isEqualTo("3");
            assertThat(batch.text(TextColumn.OBJECT, 1)).isNull();
            assertThat(batch.text(TextColumn.OBJECT, 2)).isNull();
        }
    }

    @Test
    void aStretchBeginsAndEndsWhereItIsTold() throws Exception {
        Path file = hours(5);
        Replay.Options middle = new Replay.Options(
                Speed.MAX, false, Optional.of(Moment.parse("1h")), Optional.of(Moment.parse("3h")));
        try (Replay replay = new Replay(file, middle)) {
            assertThat(startsOf(replay)).containsExactly(START, START + HOUR, START + 2 * HOUR, START + 3 * HOUR);
        }
        Optional<Moment> late = Optional.of(Moment.parse("2023-11-15T22:13:20Z"));
        assertThatThrownBy(() -> new Replay(file, new Replay.Options(Speed.MAX, false, late, Optional.empty())).close())
                .hasMessage("replaying '" + file + "': its events span 14400.0 s, and --from is not within");
    }

    @Test
    void aFileThatIsReplacedEndsTheReplay() throws Exception {
        Path file = hours(3);
        try (Replay replay = new Replay(file, loop())) {
            assertThat(replay.next()).isPresent();
            Files.move(WrittenRecording.training(folder.resolve("other.parquet"), START, 3), file,
                    StandardCopyOption.REPLACE_EXISTING);
            assertThat(startsOf(replay)).hasSize(2);
            assertThat(replay.state().note()).startsWith("the recording was replaced or changed under the replay");
        }
    }

    @Test
    void aFileThatIsCutShortEndsTheReplay() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'io' AS kind, 'read' AS name, %d + i * 1000 AS ts_ns, 5 AS dur_ns, 1 AS pid, 1 AS tid
                FROM range(500000) AS r(i)
                """.formatted(START));
        try (Replay replay = new Replay(file, Replay.Options.at(Speed.MAX))) {
            assertThat(replay.next()).isPresent();
            try (FileChannel cut = FileChannel.open(file, StandardOpenOption.WRITE)) {
                cut.truncate(1000);
            }
            assertThat(startsOf(replay)).hasSizeLessThan(500_000);
            assertThat(replay.state().note()).startsWith("the recording was replaced or changed under the replay");
        }
    }

    private Path hours(int events) {
        return WrittenRecording.write(folder.resolve("hours.parquet"), """
                SELECT 'mark' AS kind, 'a' AS name, %d + i * 3600000000000 AS ts_ns, 1 AS tid FROM range(%d) AS r(i)
                """.formatted(START, events));
    }

    private static void awaitPosition(Playback playback, double seconds) throws InterruptedException {
        for (int i = 0; i < 3000 && playback.status().positionS() < seconds; i++) {
            Thread.sleep(10);
        }
        assertThat(playback.status().positionS()).isBetween(seconds, seconds + 10);
    }

    /// The starts of all events that are left.
    private static List<Long> startsOf(Replay replay) {
        List<Long> starts = new ArrayList<>();
        for (Optional<EventBatch> batch = nextOf(replay); batch.isPresent(); batch = nextOf(replay)) {
            for (int row = 0; row < batch.get().rows(); row++) {
                starts.add(batch.get().number(LongColumn.TS_NS, row));
            }
        }
        return starts;
    }

    private static Replay.Options loop() {
        return new Replay.Options(Speed.MAX, true, Optional.empty(), Optional.empty());
    }

    /// The next batch with events.
    private static EventBatch events(Replay replay) {
        EventBatch batch = nextOf(replay).orElseThrow();
        while (batch.rows() == 0) {
            batch = nextOf(replay).orElseThrow();
        }
        return batch;
    }

    private static Optional<EventBatch> nextOf(Replay replay) {
        try {
            return replay.next();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
