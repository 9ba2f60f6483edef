package io.dyber.zernel.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.record.cli.Record;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.duckdb.DuckDBDriver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What Spark makes of a job's recordings on a cluster is what DuckDB makes of them on one machine.
class FleetJobTest {
    @TempDir
    static Path folder;

    private static String written = "";
    private static String screen = "";

    /// Starting executors takes most of the time, so the applications run once.
    @BeforeAll
    static void digestsAJobOfFourMachinesAndReducesIt() throws IOException {
        Path job = folder.resolve("job");
        assertThat(Record.run("--simulate", "--seed=2", "--steps=12", "--ranks=32", "--per-node=8", "--cause=straggler-rank@node=1",
                        "--cause=sync-bound@node=3", "--quiet", "-o", job.toString()))
                .isZero();
        Files.writeString(job.resolve("broken.parquet"), "not at all");
        Path expected = Files.createDirectories(folder.resolve("expected"));
        try (Stream<Path> recordings = Files.list(job)) {
            for (Path recording : recordings.filter(path -> path.toString().contains("node")).toList()) {
                try (Database database = Recordings.open(recording.toString())) {
                    Digest.write(database, expected.resolve(String.valueOf(recording.getFileName()).replace(".parquet", Digest.SUFFIX)));
                }
            }
        }
        LocalCluster.use();
        StringWriter err = new StringWriter();
        assertThat(DigestJob.run(new PrintWriter(err, true), job.toString(), "-o", folder.resolve("digests").toString())).isZero();
        written = err.toString();
        Files.writeString(folder.resolve("digests/words.digest.parquet"), "not at all");
        StringWriter out = new StringWriter();
        assertThat(FleetJob.run(new PrintWriter(out, true), folder.resolve("digests").toString(), "-o", folder.resolve("fleet").toString())).isZero();
        screen = out.toString();
    }

    @Test
    void digestsHaveTheRowsOfThoseOfOneMachine() throws SQLException, IOException {
        try (Stream<Path> digests = Files.list(folder.resolve("digests"))) {
            assertThat(digests.map(path -> String.valueOf(path.getFileName()))).containsExactlyInAnyOrder(
                    "node0000.digest.parquet", "node0001.digest.parquet", "node0002.digest.parquet", "node0003.digest.parquet",
                    "words.digest.parquet");
        }
        for (int node = 0; node < 4; node++) {
            String name = "/node000" + node + ".digest.parquet'";
            String made = "'" + folder.resolve("digests") + name;
            String expected = "'" + folder.resolve("expected") + name;
            assertThat(rows("SELECT count(*) > 100 FROM read_parquet(" + made + ")")).containsExactly("[true]");
            assertThat(rows("FROM read_parquet(" + made + ") EXCEPT ALL FROM read_parquet(" + expected + ")")).isEmpty();
            assertThat(rows("FROM read_parquet(" + expected + ") EXCEPT ALL FROM read_parquet(" + made + ")")).isEmpty();
            String footer = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(";
            assertThat(rows(footer + made + ")")).isEqualTo(rows(footer + expected + ")"));
        }
    }

    @Test
    void aRecordingThatIsNoneIsNamedAndCounted() {
        assertThat(written).contains("broken.parquet").contains("wrote 4 digests: ").endsWith("; 1 failed\n");
    }

    @Test
    void eachViewHasTheRowsThatDuckDbHas() throws SQLException {
        try (Database database = Recordings.open(folder.resolve("expected").toString())) {
            for (String view : Reduction.VIEWS) {
                List<String> expected = database.query("FROM " + view).rows().stream().map(Table.Row::values).map(FleetJobTest::text).sorted().toList();
                assertThat(expected).as(view).isNotEmpty();
                assertThat(rows("FROM read_parquet('" + folder.resolve("fleet").resolve(view) + "/*.parquet')")).as(view).isEqualTo(expected);
            }
        }
    }

    @Test
    void theScreenSaysWhatWasLeftOut() {
        assertThat(screen).startsWith("4 digests\n").contains("words.digest.parquet (damaged: ").contains("\nrank_outliers\n");
    }

    private static List<String> rows(String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = new DuckDBDriver().connect("jdbc:duckdb:", new java.util.Properties());
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            while (result.next()) {
                List<@Nullable Object> values = new ArrayList<>();
                for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                    values.add(result.getObject(i));
                }
                rows.add(text(values));
            }
        }
        return rows.stream().sorted().toList();
    }

    /// The order in which doubles are added is another in each engine, so of these nine digits count.
    private static String text(List<@Nullable Object> values) {
        return values.stream()
                .map(value -> value instanceof Double number ? String.format(Locale.ROOT, "%.8e", number) : String.valueOf(value))
                .toList()
                .toString();
    }
}
