package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.START_NS;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.Table;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Outliers and changes of pace: found where they are, and not in noise.
class AnomaliesTest {
    @TempDir
    Path folder;

    /// 40 processes of 200 steps each. Two draws of a uniform number make a normal one.
    @ParameterizedTest
    @ValueSource(strings = {"exp(0.1 * %s)", "1 + 0.2 * (u1 - 0.5)", "CASE WHEN u1 < 0.5 THEN 0.97 ELSE 1.03 END + 0.01 * %s"})
    void noiseHasNoAnomalyAndNoChange(String factor) {
        try (Database database = open(steps(40, 200, factor, 1))) {
            assertThat(database.query("FROM step_changes").rows()).isEmpty();
            assertThat(database.query("FROM step_outliers").rows()).isEmpty();
            assertThat(database.query("FROM anomalies").rows()).isEmpty();
            assertThat(findings("slow_steps", database)).isEmpty();
        }
    }

    @Test
    void slowWavesAreNoChangeOfPace() {
        // Ten sines of 40 steps, 10 % up and down.
        try (Database database = open(steps(10, 200, "1 + 0.1 * sin(2 * pi() * step / 40) + 0.01 * %s", 2))) {
            assertThat(database.query("FROM step_changes").rows()).isEmpty();
        }
    }

    /// As on a machine whose clock or neighbours vary: steps resemble those 100 steps ago.
    @Test
    void aPaceThatComesAndGoesIsNoChangeOfPace() {
        String level = "1 + 0.16 * (hash(process, step // 150) % 1000 / 1000.0 - 0.5) + 0.03 * %s";
        try (Database database = open(steps(10, 2000, level, 5))) {
            assertThat(database.query("FROM step_changes").rows()).isEmpty();
            assertThat(findings("slow_steps", database)).isEmpty();
        }
    }

    /// Some slow steps before it, or a slow begin.
    @ParameterizedTest
    @ValueSource(strings = {
        "CASE WHEN step BETWEEN 101 AND 110 THEN 3 WHEN step >= 200 THEN 1.5 ELSE 1 END",
        "CASE WHEN step < 30 THEN 1.4 WHEN step >= 200 THEN 1.3 ELSE 1 END"
    })
    void aChangeOfPaceIsFoundBesideOtherSlowSteps(String pace) {
        try (Database database = open(steps(10, 300, pace + " * exp(0.05 * %s)", 6))) {
            assertThat(database.query("SELECT count(*) AS n FROM step_changes WHERE step BETWEEN 190 AND 210").only().integer("n"))
                    .isGreaterThanOrEqualTo(9);
        }
    }

    @Test
    void slowStepsFiresWhereThePaceChanges() {
        RecordingFixture fixture = steps(1, 100, "CASE WHEN step >= 60 THEN 1.3 ELSE 1 END * exp(0.02 * %s)", 3);
        try (Database database = open(fixture)) {
            Table.Row change = database.query("FROM step_changes").only();
            assertThat(change.integer("step")).isBetween(60L, 62L);
            Finding finding = findings("slow_steps", database).getFirst();
            assertThat(finding.evidence()).matches("from step 6[0-2] on steps take 6[45]\\.\\d ms instead of (49|50)\\.\\d ms .*");
            assertThat(finding.advice()).startsWith("look at what changed then");
            // 15 ms in 40 of 99 steps
            assertThat(finding.lostMillisPerStep()).isBetween(5.5, 6.5);
        }
    }

    @Test
    void slowStepsIsSilentWhereAnotherProcessComesToTheGpu() {
        for (String pace : List.of("CASE WHEN step >= 60 THEN 1.3 ELSE 1 END", "CASE WHEN step BETWEEN 60 AND 75 THEN 3 ELSE 1 END")) {
            RecordingFixture fixture = steps(1, 100, pace + " * exp(0.02 * %s)", 3);
            try (Database database = open(fixture)) {
                assertThat(findings("slow_steps", database)).isNotEmpty();
                fixture.alter("INSERT INTO events (kind, name, ts_ns, pid, device, value, unit) "
                        + "SELECT 'gpu_process', 'sm', min(ts_ns) + second * 1000000000, any_value(pid) + other * 777, 0, "
                        + "CASE WHEN other = 0 THEN 50 WHEN second > 3 THEN 40 ELSE 0 END, 'percent' "
                        + "FROM events, range(1, 12) AS seconds(second), range(2) AS others(other) GROUP BY second, other");
            }
            try (Database database = open(fixture)) {
                assertThat(findings("slow_steps", database)).isEmpty();
            }
        }
    }

    @Test
    void slowStepsFiresForEveryNthStep() {
        try (Database database = open(steps(1, 100, "CASE step % 10 WHEN 5 THEN 2.0 ELSE 1 END * exp(0.02 * %s)", 4))) {
            Finding finding = findings("slow_steps", database).getFirst();
            assertThat(finding.value()).isEqualTo(10.0);
            assertThat(finding.evidence()).contains(", every 10 steps; ");
            assertThat(finding.lostMillisPerStep()).isBetween(4.5, 5.5);
        }
    }

    /// Six median deviations are 1.2 times the median here.
    @Test
    void slowStepsFiresForEveryNthStepHoweverMuchStepsVary() {
        String varied = "exp(0.2 * %s)";
        try (Database database = open(steps(1, 200, "CASE step % 10 WHEN 5 THEN 1.4 ELSE 1 END * " + varied, 4))) {
            assertThat(findings("slow_steps", database)).isEmpty();
        }
        try (Database database = open(steps(1, 200, "CASE step % 10 WHEN 5 THEN 2.1 ELSE 1 END * " + varied, 4))) {
            Finding finding = findings("slow_steps", database).getFirst();
            assertThat(finding.value()).isEqualTo(19.0);
            assertThat(finding.evidence()).contains(", every 10 steps; ");
            assertThat(finding.lostMillisPerStep()).isBetween(5.0, 7.0);
        }
    }

    /// As in a trace, of few steps.
    @Test
    void slowStepsFiresForFewStepsOnlyWhereSlowOnesAreAtEqualDistances() {
        try (Database database = open(steps(1, 13, "CASE step % 4 WHEN 3 THEN 6.0 ELSE 1 END * exp(0.02 * %s)", 4))) {
            assertThat(findings("slow_steps", database).getFirst().evidence()).contains(", every 4 steps; ");
        }
        try (Database database = open(steps(1, 13, "CASE WHEN step IN (3, 4, 9) THEN 6.0 ELSE 1 END * exp(0.02 * %s)", 4))) {
            assertThat(findings("slow_steps", database)).isEmpty();
        }
    }

    @Test
    void slowStepsIsSilentForStepsWithACheckpoint() {
        RecordingFixture fixture = steps(1, 100, "CASE step % 10 WHEN 5 THEN 2.0 ELSE 1 END", 5)
                .alter("INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, status, path) "
                        + "SELECT 'io_open', 'openat', ts_ns + 30000000, 1000, pid, tid, 3, '/out/model.pt' "
                        + "FROM events WHERE kind = 'backward' AND dur_ns > 70000000");
        try (Database database = open(fixture)) {
            assertThat(database.query("SELECT count(*) AS n, count(reason) AS known FROM step_outliers").toString())
                    .isEqualTo("n\tknown\n10\t10");
            assertThat(findings("slow_steps", database)).isEmpty();
        }
    }

    @Test
    void callsAreComparedWithOthersOfTheirName() {
        RecordingFixture fixture = steps(1, 50, "1", 6)
                .alter("INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, depth) SELECT 'cuda_copy', 'cudaMemcpyAsync', "
                        + START_NS + " + i * 2000000, CASE i WHEN 700 THEN 20000000 ELSE 10000 + i % 7 * 500 END, 100, 100, 0 "
                        + "FROM range(1000) AS calls(i)");
        try (Database database = open(fixture)) {
            Table.Row row = database.query("FROM anomalies WHERE layer = 'cuda'").only();
            assertThat(row.text("name")).isEqualTo("cudaMemcpyAsync");
            assertThat(row.integer("times")).isEqualTo(1);
            assertThat(row.integer("step")).isEqualTo(29); // begins 1.4 s after the start, steps take 50 ms
            assertThat(row.real("value")).isEqualTo(20_000_000.0);
            assertThat(row.real("median_value")).isBetween(10_500.0, 12_500.0);
            assertThat(row.text("reason")).startsWith("1 of 1000 calls took over 3 times the median, ");
        }
    }

    @Test
    void throttledGpuFiresForHeatAndForLowClocks() {
        try (Database database = open(gpus("CASE WHEN gpu = 2 AND i >= 20 THEN 64 ELSE 4 END", "gpu = 2"))) {
            assertThat(database.query("SELECT device, what, name, times FROM device_outliers").toString())
                    .isEqualTo("device\twhat\tname\ttimes\n2\tdevice\tclock_sm\t100\n2\tthrottled\tthrottle\t80");
            Finding finding = findings("throttled_gpu", database).getFirst();
            assertThat(finding.subject()).isEqualTo("GPU 2");
            assertThat(finding.severity()).isEqualTo("high");
            assertThat(finding.maxSpeedup()).isEqualTo(1.41);
            assertThat(finding.evidence())
                    .isEqualTo("its clock is 1400 MHz, that of the others 1980 MHz (medians); the driver gave a reason in 80 of "
                            + "100 samples: hardware thermal limit; 1980 MHz / 1400 MHz = 1.41x");
        }
    }

    @Test
    void throttledGpuIsSilentAtThePowerLimit() {
        try (Database database = open(gpus("4", "FALSE"))) {
            assertThat(findings("throttled_gpu", database)).isEmpty();
            assertThat(database.query("FROM device_outliers").rows()).isEmpty();
        }
    }

    /// Four GPUs, one sample a second.
    private static RecordingFixture gpus(String throttle, String slow) {
        return recording().alter("""
                INSERT INTO events (kind, name, ts_ns, device, value, unit)
                SELECT 'gpu_sample', metric.name, %d + i * 1000000000, gpu, metric.value, metric.unit
                FROM range(4) AS gpus(gpu), range(100) AS samples(i), LATERAL (
                    VALUES ('utilization', 95 + i %% 4, 'percent'), ('throttle', %s, 'bits'),
                        ('clock_sm', CASE WHEN %s THEN 1400 ELSE 1980 END, 'MHz'), ('power', 690000 + i * 7919 %% 9000, 'mW')
                ) AS metric(name, value, unit)
                """.formatted(START_NS, throttle, slow));
    }

    /// Steps of 50 ms, each of them times a factor: an expression over `step`, `u1`, `u2` and, for `%s`, a normal number.
    private static RecordingFixture steps(int processes, int steps, String factor, int seed) {
        return recording().alter("""
                CREATE TABLE durations AS
                WITH
                    draws AS (
                        SELECT
                            process,
                            step,
                            (1 + hash(process, step, %1$d) %% 1000000) / 1000001 AS u1,
                            (1 + hash(step, process, %1$d, 1) %% 1000000) / 1000001 AS u2
                        FROM range(1, %2$d + 1) AS steps(step), range(%3$d) AS processes(process)
                    ),
                    lengths AS (
                        SELECT process, step, CAST(50e6 * (%4$s) AS BIGINT) AS dur_ns
                        FROM draws
                    )
                SELECT
                    100 + process AS pid,
                    step,
                    dur_ns,
                    %5$d + sum(dur_ns) OVER (PARTITION BY process ORDER BY step) - dur_ns AS start_ns
                FROM lengths
                """.formatted(
                        seed, steps, processes, factor.replace("%s", "(sqrt(-2 * ln(u1)) * cos(2 * pi() * u2))"), START_NS))
                .alter("""
                        INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, depth)
                        SELECT 'region', '%s', start_ns, 1000000, pid, pid, 0 FROM durations
                        UNION ALL SELECT 'backward', 'Engine::execute', start_ns + 5000000, dur_ns - 10000000, pid, pid, 0
                        FROM durations
                        UNION ALL SELECT 'region', '%s', start_ns + dur_ns - 5000000, 5000000, pid, pid, 0 FROM durations
                        """.formatted(NEXT, STEP));
    }

    private Database open(RecordingFixture fixture) {
        return Recordings.open(fixture.write(folder.resolve("run.parquet")).toString());
    }

    private static List<Finding> findings(String name, Database database) {
        return Finding.run(Objects.requireNonNull(database.library().find(name)), database);
    }
}
