package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.Table;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Clocks of machines, compared by the collectives that ran on them.
class HostClocksTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"0, 0, 1", "250, 0, 2", "-250, 0, 3", "3600000, 0, 4", "0.4, 0, 5", "17, 2, 6", "-9, -5, 7"})
    void theTrueOffsetIsWithinTheError(double offsetMs, double driftPpm, long seed) {
        Job job = new Job(seed, offsetMs, driftPpm, 600);
        try (Database database = job.open(job.host0(), job.host1(), folder)) {
            List<Table.Row> clocks = database.query("FROM host_clocks").rows();
            assertThat(clocks).hasSize(5); // stretches of a minute
            for (Table.Row row : clocks) {
                long middleNs = (row.integer("from_ns") + row.integer("until_ns")) / 2 - RecordingFixture.START_NS;
                double trueNs = 1e6 * offsetMs + (middleNs - 1e6 * offsetMs) * driftPpm / 1e6;
                assertThat(row.text("host") + "/" + row.text("reference_host")).isEqualTo("host1/host0");
                assertThat(Math.abs((double) row.integer("offset_ns") - trueNs))
                        .as("seed %d", seed)
                        .isLessThanOrEqualTo((double) row.integer("error_ns"));
                // Collectives take 1 ms, so the bounds are closer together than that.
                assertThat(row.integer("error_ns")).isBetween(1L, 1_000_000L);
                assertThat(row.integer("agreeing")).isEqualTo(row.integer("collectives"));
            }
            // In other steps the ranks come within 0.3 ms of each other, which is below the error.
            assertThat(database.query("SELECT rank, times_last FROM late_ranks").toString()).isEqualTo("rank\ttimes_last\n1\t60");
        }
    }

    @Test
    void aFewWaitsThatEndEarlyDoNotMoveTheOffset() {
        Job job = new Job(12, 40, 0, 100);
        // Waits for something else, which end before rank 1 calls.
        RecordingFixture early = job.host0().alter("INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, depth) "
                + "SELECT 'cuda_sync', 'cudaEventSynchronize', ts_ns + 15000, 1000, pid, tid, 0 "
                + "FROM events WHERE kind = 'nccl' AND seq % 10 = 3");
        try (Database database = job.open(early, job.host1(), folder)) {
            Table.Row row = database.query("FROM host_clocks").only();
            assertThat(Math.abs(row.integer("offset_ns") - 40_000_000)).isLessThanOrEqualTo(row.integer("error_ns"));
            assertThat(row.integer("error_ns")).isLessThan(1_000_000);
            assertThat(row.integer("collectives")).isEqualTo(100);
            assertThat(row.integer("agreeing")).isEqualTo(90);
        }
    }

    @Test
    void recordingsOfOneBootDifferByTheirOwnOffsetsOnly() {
        RecordingFixture first = recording().allReduce(0, 0, 10, 1, 8).footer("zernel.clock", clock("a", 1000));
        RecordingFixture second = recording().on(101, 101, "python3").allReduce(1, 0, 12, 1, 8)
                .footer("zernel.clock", clock("a", 501_000));
        try (Database database = open(first, second)) {
            assertThat(database.query("SELECT recording, clock, shift_ns FROM recording_clocks").toString())
                    .isEqualTo("recording\tclock\tshift_ns\n0\ta\t0\n1\ta\t-500000");
            assertThat(database.query("SELECT hosts, skew_ns, error_ns, late_rank FROM collective_arrivals").toString())
                    .isEqualTo("hosts\tskew_ns\terror_ns\tlate_rank\n1\t1500000\t0\t1");
            assertThat(database.query("FROM host_clocks").rows()).isEmpty();
        }
    }

    @Test
    void clocksThatNoCollectiveComparesGiveNoDelay() {
        RecordingFixture first = recording().allReduce(0, 0, 10, 1, 8).footer("zernel.clock", clock("a", 0));
        RecordingFixture second = recording().on(101, 101, "python3").allReduce(1, 0, 12, 1, 8)
                .footer("zernel.clock", clock("b", 0));
        try (Database database = open(first, second)) {
            assertThat(database.query("SELECT ranks, hosts, skew_ns, late_rank FROM collective_arrivals").toString())
                    .isEqualTo("ranks\thosts\tskew_ns\tlate_rank\n2\t2\tnull\tnull");
        }
    }

    private Database open(RecordingFixture first, RecordingFixture second) {
        return Recordings.open(
                first.write(folder.resolve("a.parquet")).toString(), second.write(folder.resolve("b.parquet")).toString());
    }

    private static String clock(String boot, long offset) {
        return "{\"source\":\"CLOCK_MONOTONIC\",\"offset_ns\":" + offset + ",\"error_ns\":50,\"boot_id\":\"" + boot + "\"}";
    }

    /// Two ranks on two machines. Each step takes about 100 ms, one all-reduce and a wait for it, in every tenth step
    /// rank 1 comes 5 ms late; machine 1's clock is ahead.
    private record Job(long seed, double offsetMs, double driftPpm, int steps) {
        RecordingFixture host0() {
            return host(0, "called");
        }

        RecordingFixture host1() {
            String shift = String.format(Locale.ROOT, " * %.9f / 1e6 + %f * 1e6", driftPpm, offsetMs);
            return host(1, "called + called" + shift);
        }

        Database open(RecordingFixture first, RecordingFixture second, Path folder) {
            return Recordings.open(
                    first.write(folder.resolve("0.parquet")).toString(), second.write(folder.resolve("1.parquet")).toString());
        }

        private RecordingFixture host(int rank, String byItsClock) {
            String ends = byItsClock.replace("called", "done");
            return recording()
                    .footer("zernel.recording", "{\"host\":\"host" + rank + "\"}")
                    .footer("zernel.clock", clock("boot of host" + rank, 0))
                    .alter(String.format(Locale.ROOT, """
                            CREATE TABLE calls AS
                            WITH
                                random AS (
                                    SELECT step, list_transform(range(6), lambda i: hash(step, i, %d) %% 1000000) AS r
                                    FROM range(%d) AS steps(step)
                                ),
                                ranks AS (
                                    SELECT
                                        step,
                                        r[5] AS during,
                                        step * 100e6 + r[1] * 10 + 50e6 + r[2] * 0.3 AS called0,
                                        step * 100e6 + r[1] * 10 + 50e6 + r[3] * 0.3
                                            + CASE step %% 10 WHEN 3 THEN 5e6 ELSE 0 END AS called1,
                                        r[%d] * 0.1 AS late
                                    FROM random
                                )
                            SELECT step, called%d AS called, greatest(called0, called1) + 0.6e6 + during * 0.4 + late AS done
                            FROM ranks
                            """, seed, steps, rank == 0 ? 4 : 6, rank))
                    .alter("""
                            INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, depth, comm_id, nranks, rank, seq, bytes)
                            SELECT 'nccl', 'ncclAllReduce', %2$d + CAST(%3$s AS BIGINT), 10000, 100 + %1$d, 100 + %1$d, 0,
                                77, 2, %1$d, step, 4000
                            FROM calls
                            """.formatted(rank, RecordingFixture.START_NS, byItsClock))
                    .alter("""
                            INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, depth)
                            SELECT 'cuda_sync', 'cudaStreamSynchronize', %2$d + CAST(%3$s + 20000 AS BIGINT),
                                CAST((%4$s) - (%3$s) - 20000 AS BIGINT), 100 + %1$d, 100 + %1$d, 0
                            FROM calls
                            """.formatted(rank, RecordingFixture.START_NS, byItsClock, ends));
        }
    }
}
