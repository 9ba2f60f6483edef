package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.cli.Record;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.StringJoiner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Simulated jobs of which the driver says nothing, as in containers without NVML: causes are found, with a range.
class WithoutDriverTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"data-bound-cpu, data_bound", "too-few-workers, too_few_workers", "launch-bound, launch_bound"})
    void theCauseIsFoundAndWhatItCostsIsWithinTheRange(String scenario, String name) throws SQLException {
        try (Database database = Recordings.open(withoutDriver(scenario).toString())) {
            GroundTruth truth = GroundTruth.of(database.recordings().getFirst());
            List<Finding> findings = database.diagnose().findings();
            assertThat(PossibleBounds.violations(findings)).isEmpty();
            Finding first = findings.getFirst();
            assertThat(first.name()).isEqualTo(name);
            assertThat(first.evidence()).contains("GPU use was not sampled, so between ");
            GroundTruth.Cause cause = truth.causes().getFirst();
            assertThat(first.leastLostMillisPerStep()).isLessThan(cause.share(truth) * truth.stepNanos() / 1e6);
            assertThat(Expectations.boundIsBroken(first, cause.gain(truth))).isFalse();
            assertThat(first.severity()).isEqualTo("low");
        }
    }

    @Test
    void memoryThatGrowsIsNotSaidToBeReleased() throws SQLException {
        try (Database database = Recordings.open(withoutDriver("memory-leak").toString())) {
            assertThat(database.diagnose().findings()).extracting(Finding::name).startsWith("memory_growth");
        }
    }

    @Test
    void aHealthyJobIsSilentAndWhatWasNotLookedForIsSaid() throws SQLException {
        try (Database database = Recordings.open(withoutDriver("healthy").toString())) {
            assertThat(database.diagnose().findings())
                    .allSatisfy(finding -> assertThat(finding.leastLostMillisPerStep()).isLessThan(1));
            assertThat(database.query("SELECT bounds FROM unknowns WHERE question LIKE 'what only the driver%'").toString())
                    .isEqualTo("bounds\nnot looked for: a throttled, shared or slower GPU, and one whose memory is nearly full; "
                            + "what waits cost is a range");
        }
    }

    private Path withoutDriver(String scenario) throws SQLException {
        Path file = folder.resolve("run.parquet");
        assertThat(Record.run("--simulate=" + scenario, "--seed=1", "--strength=25%", "--quiet", "-o", file.toString())).isZero();
        Path copy = folder.resolve("copy.parquet");
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            StringJoiner footer = new StringJoiner(", ", "{", "}");
            try (ResultSet keys = statement.executeQuery("SELECT decode(key), decode(value) FROM parquet_kv_metadata('" + file
                    + "') WHERE decode(key) LIKE 'zernel.%'")) {
                while (keys.next()) {
                    footer.add(quote(keys.getString(1)) + ": " + quote(keys.getString(2)));
                }
            }
            statement.execute("COPY (FROM read_parquet('" + file + "') WHERE kind NOT IN ('gpu_sample', 'gpu_process')) TO '"
                    + copy + "' (FORMAT parquet, KV_METADATA " + footer + ")");
        }
        return copy;
    }

    private static String quote(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
