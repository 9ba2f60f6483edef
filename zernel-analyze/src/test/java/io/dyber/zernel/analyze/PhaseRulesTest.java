package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Phases of jobs without regions, by zerneld's rules.
class PhaseRulesTest {
    private static final String PHASES =
            "SELECT phase, round(total_ns / 1e6, 1) AS ms, source FROM phases WHERE total_ns > 0 ORDER BY phase";

    @TempDir
    Path folder;

    @Test
    void rulesClassifyTheTimeInNoCall() {
        assertThat(query(SqlLibrary.builtIn(), PHASES)).isEqualTo("""
                phase	ms	source
                DataLoading	142.5	rule: I/O wait, idle GPU
                GpuCompute	610.0	calls, rule: busy GPU
                OptimizerStep	40.0	rule: burst after a wait for the GPU""");
    }

    @Test
    void timePerProcessIsThatOfItsThreads() {
        assertThat(query(SqlLibrary.builtIn(), "SELECT phase, round(fraction, 4) AS fraction FROM process_phases"))
                .isEqualTo("phase\tfraction\nDataLoading\t0.1798\nGpuCompute\t0.7697\nOptimizerStep\t0.0505");
    }

    @Test
    void thresholdsAreOptions() {
        SqlLibrary library = SqlLibrary.builtIn()
                .with("phase_rules.io_wait_threshold", "0.9")
                .with("phase_rules.optimizer_burst_max_ns", "1000000");
        assertThat(query(library, PHASES)).isEqualTo("""
                phase	ms	source
                GpuCompute	610.0	calls, rule: busy GPU
                Unknown	182.5	no call""");
    }

    /// Twenty steps of 40 ms: copy, launches, a wait for the GPU, 2 ms of CPU, a wait, and 6 ms reading.
    private String query(SqlLibrary library, String sql) {
        RecordingFixture fixture = recording();
        for (int step = 0; step < 20; step++) {
            double at = step * 40;
            fixture.copy("HtoD", "pinned", at, 0.1, 4096).launch("gemm", at + 1, 0.01).launch("gemm", at + 5, 0.01)
                    .sync(at + 20, 10).sync(at + 32, 0.5).io(at + 33, 6, 100);
        }
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), library)) {
            return database.query(sql).toString();
        }
    }
}
