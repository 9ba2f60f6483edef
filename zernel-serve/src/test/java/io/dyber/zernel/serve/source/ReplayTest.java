package io.dyber.zernel.serve.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
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
        try (Replay replay = new Replay(file, Speed.MAX, false)) {
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
        try (Replay replay = new Replay(file, Speed.parse("4x"), false)) {
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
                .isBetween(Duration.ofMillis(990), Duration.ofMillis(5000));
    }

    @Test
    void aLoopStartsAgainAndTimeMovesOn() throws Exception {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), START, 2);
        List<Long> starts = new ArrayList<>();
        try (Replay replay = new Replay(file, Speed.MAX, true)) {
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
        try (Replay replay = new Replay(file, Speed.REAL_TIME, false)) {
            assertThat(replay.next()).isPresent();
            second = CompletableFuture.supplyAsync(() -> nextOf(replay));
            assertThat(second).isNotDone();
        }
        assertThat(second.get(2, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aRecordingWithoutEventsEndsAndSaysSo() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'io' AS kind, 'read' AS name, CAST(0 AS BIGINT) AS ts_ns, 1 AS tid WHERE false
                """);
        try (Replay replay = new Replay(file, Speed.MAX, true)) {
            assertThat(replay.next()).isEmpty();
            assertThat(replay.state().note()).isEqualTo("the recording has no events");
        }
    }

    private static Optional<EventBatch> nextOf(Replay replay) {
        try {
            return replay.next();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
