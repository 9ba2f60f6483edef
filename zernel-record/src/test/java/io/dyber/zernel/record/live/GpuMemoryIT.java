package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.Layer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Eight threads allocate and free the memory of four pretended devices in 100,000 steps: they free what others have
/// allocated, free twice, free what was never allocated, and are refused when memory is out. The ledger of the
/// allocator itself is what the recording must agree with.
@ParameterizedClass
@ValueSource(strings = {"session", "multi"})
class GpuMemoryIT {
    private static final String KINDS = "gpu_alloc gpu_free";

    private static Recording recording = Recording.none();
    private static JsonNode ledger = Truth.of(List.of("{}")).only();

    GpuMemoryIT(String backend) {
        assertThat(recording.footer("zernel.recording").path("backend").asString()).isEqualTo(backend);
    }

    @BeforeParameterizedClassInvocation
    static void record(String backend, @TempDir Path directory) {
        Needs.bpf();
        Recorder recorder = Recorder.recordTo(directory.resolve("run.parquet"))
                .with("--backend", backend, "--detail", "all", "--kinds", KINDS.replace(' ', ','))
                .environment("STANDIN_FAIL_EVERY", "50");
        StandIns run = StandIns.record(
                directory,
                recorder,
                StandIns.probedSymbols(List.of(KINDS.split(" ")), Layer.DRIVER),
                List.of("libcuda.so.1", "libcudart.so.13"),
                "job-13",
                List.of("alloc", "8", "12500", "11"));
        recording = run.recording();
        ledger = run.truth().of("ledger");
    }

    @AfterParameterizedClassInvocation
    static void close() {
        recording.close();
    }

    @Test
    void noCallIsLost() {
        assertThat(recording.footer("zernel.losses").path("total").asLong()).isZero();
        assertThat(recording.rows("""
                SELECT kind, count(*) FROM events WHERE depth = 0 GROUP BY kind
                EXCEPT SELECT kind, count(*) FROM truth WHERE probed = 1 AND kind <> 'none' GROUP BY kind
                """)).isEmpty();
        assertThat(recording.number("SELECT count(*) FROM events WHERE depth = 0")).isGreaterThan(100_000);
    }

    @Test
    void liveBytesOfEachDeviceAreThoseOfTheLedger() {
        List<Long> live = recording.numbers("""
                SELECT coalesce(sum(CASE kind WHEN 'gpu_alloc' THEN bytes ELSE -bytes END), 0)
                FROM events WHERE depth = 0 AND status = 0 GROUP BY device HAVING device IS NOT NULL ORDER BY device
                """);
        System.out.println("live bytes of devices 0 to 3 after "
                + recording.value("SELECT count(*) FROM events WHERE depth = 0") + " calls: " + live);
        assertThat(live).isEqualTo(Truth.longs(ledger.path("live")));
        assertThat(live).allMatch(bytes -> bytes > 0);
    }

    @Test
    void allocationsAndReleasesAreCountedAsTheLedgerDoes() {
        assertThat(recording.rows("""
                SELECT count(*) FILTER (kind = 'gpu_alloc' AND status = 0 AND addr IS NOT NULL),
                    count(*) FILTER (kind = 'gpu_alloc' AND status = 2 AND addr IS NULL),
                    count(*) FILTER (kind = 'gpu_free' AND status = 0 AND bytes > 0),
                    count(*) FILTER (kind = 'gpu_free' AND status = 1 AND bytes IS NULL)
                FROM events WHERE depth = 0
                """)).containsExactly(ledger.path("allocated").asLong() + " "
                + ledger.path("out_of_memory").asLong() + " "
                + ledger.path("freed").asLong() + " "
                + ledger.path("refused").asLong());
        assertThat(ledger.path("refused").asLong()).isGreaterThan(5000);
        assertThat(ledger.path("out_of_memory").asLong()).isGreaterThan(500);
    }

    @Test
    void memoryOfTheHostIsNotOfADevice() {
        long made = recording.number("SELECT count(*) FROM truth WHERE name = 'cuMemCreate' AND kind = 'none'");
        assertThat(made).isGreaterThan(1000);
        assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'cuMemCreate'"))
                .isEqualTo(recording.number("SELECT count(*) FROM truth WHERE name = 'cuMemCreate'") - made);
        assertThat(recording.number("""
                SELECT count(*) FROM events WHERE name = 'cuMemRelease' AND status = 0 AND bytes IS NULL
                """)).isEqualTo(made);
    }

    @Test
    void memoryIsNeverNegativeAtAnyTime() {
        assertThat(recording.number("""
                SELECT min(live) FROM (
                    SELECT sum(bytes) OVER (PARTITION BY device ORDER BY moment ROWS UNBOUNDED PRECEDING) AS live
                    FROM (
                        SELECT device, bytes, ts_ns + dur_ns AS moment FROM events
                        WHERE kind = 'gpu_alloc' AND depth = 0 AND status = 0
                        UNION ALL
                        SELECT device, -bytes, ts_ns + dur_ns FROM events
                        WHERE kind = 'gpu_free' AND depth = 0 AND status = 0 AND bytes IS NOT NULL))
                """)).isNotNegative();
    }

    @Test
    void whatIsFreedIsWhatWasAllocatedThere() {
        assertThat(recording.number("""
                SELECT count(*) FROM (
                    SELECT kind, bytes, device, lag(kind) OVER w AS before, lag(bytes) OVER w AS bytes_before,
                        lag(device) OVER w AS device_before
                    FROM (
                        SELECT kind, addr, bytes, device,
                            CASE kind WHEN 'gpu_alloc' THEN ts_ns + dur_ns ELSE ts_ns END AS moment
                        FROM events WHERE depth = 0 AND status = 0 AND addr IS NOT NULL)
                    WINDOW w AS (PARTITION BY addr ORDER BY moment))
                WHERE kind = 'gpu_free' AND NOT (before = 'gpu_alloc' AND bytes = bytes_before AND device = device_before)
                """)).isZero();
    }
}
