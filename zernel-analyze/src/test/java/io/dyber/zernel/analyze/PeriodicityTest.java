package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.record.cli.Record;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/// Steps of jobs that announce nothing are found by what repeats: simulated recordings, from which all that PyTorch says of
/// itself is taken out.
class PeriodicityTest {
    private static final int STEPS = 60;

    @TempDir
    private Path folder = Path.of("");

    @ParameterizedTest
    @CsvSource({
        "healthy, 1", "healthy, 2", "healthy, 3", "data-bound-cpu, 1", "launch-bound, 1", "sync-bound, 1",
        "pageable-copies, 2", "allocator-churn, 1", "cpu-preempted, 1", "comm-overlapped, 1", "comm-bound, 2",
        "small-collectives, 1"
    })
    void stepsAreCountedWithoutRegions(String scenario, long seed) throws SQLException {
        Path announced = folder.resolve("announced.parquet");
        int status = Record.run(
                "--simulate=" + scenario, "--seed=" + seed, "--steps=" + STEPS, "--quiet", "-o", announced.toString());
        assertThat(status).isZero();
        double trueNanos = stripped(announced, folder.resolve("silent.parquet"));

        try (Database database = Recordings.open(folder.resolve("silent.parquet").toString())) {
            Table found = database.query(
                    """
                    SELECT
                        count(*) AS steps,
                        avg(CASE WHEN step > 1 THEN dur_ns END) AS mean_ns,
                        any_value(source) AS source
                    FROM steps
                    WHERE pid = 4001
                    """);
            Table.Row row = found.rows().getFirst();
            // A step ends where the next begins, so the last one has no end.
            assertThat(row.integer("steps")).as(row.text("source")).isBetween(STEPS - 2L, STEPS + 0L);
            assertThat(row.real("mean_ns")).isCloseTo(trueNanos, within(0.1 * trueNanos));
        }
    }

    /// Writes a recording again without what PyTorch announces and without what the simulator tells; returns the true
    /// length of a step.
    private static double stripped(Path from, Path to) throws SQLException {
        Map<String, String> footer;
        double stepNanos;
        try (Database database = Recordings.open(from.toString())) {
            footer = database.recordings().getFirst().metadata();
            stepNanos = GroundTruth.of(database.recordings().getFirst()).stepNanos();
        }
        assertThat(JsonMapper.shared().readTree(footer.get("zernel.simulation")).get("steps").asInt()).isEqualTo(STEPS);
        String kept = footer.entrySet().stream()
                .filter(entry -> !entry.getKey().equals("zernel.simulation") && entry.getKey().startsWith("zernel."))
                .map(entry -> quote(entry.getKey()) + ": " + quote(entry.getValue()))
                .collect(Collectors.joining(", "));
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            statement.execute("COPY (FROM read_parquet(" + quote(from.toString())
                    + ") WHERE kind NOT IN ('region', 'backward', 'dist_wait')) TO " + quote(to.toString())
                    + " (FORMAT parquet, KV_METADATA {" + kept + "})");
        }
        return stepNanos;
    }

    private static String quote(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
