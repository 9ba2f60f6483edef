package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What somebody can do who may only read a recording: by the check of the query, and without it by what DuckDB is told.
final class GuardedQueryTest {
    @TempDir
    private static Path folder;

    private static Database database;
    private static GuardedQuery guarded;

    @BeforeAll
    static void open() throws IOException {
        // Read as a glob, its name means another file.
        Path file = RecordingFixture.recording().region("a", 1, 1).region("b", 3, 1).write(folder.resolve("run[1]*.parquet"));
        Files.writeString(folder.resolve("secret.csv"), "secret\n1\n");
        database = Recordings.openConfined(List.of(file.toString()));
        guarded = new GuardedQuery(database, Duration.ofSeconds(60));
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "SELECT name FROM events ORDER BY name",
        "FROM region SELECT name ORDER BY name;",
        "WITH names AS (SELECT name FROM events) SELECT name FROM names ORDER BY name -- ;",
        "SELECT name FROM events UNION ALL SELECT name FROM events WHERE false ORDER BY name",
        "SELECT name FROM events, range(1) ORDER BY name",
    })
    void aQueryOfEventsAndViewsIsAnswered(String sql) {
        assertThat(guarded.head(9, sql).texts("name")).containsExactly("a", "b");
        assertThat(guarded.head(1, sql).texts("name")).containsExactly("a");
    }

    @Test
    void aViewThatOthersAreMadeOfIsMadeToo() {
        assertThat(guarded.head(9, "SELECT kind FROM kinds").texts("kind")).contains("region");
        assertThat(guarded.head(9, "DESCRIBE steps").rows()).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", ";", "SELECT 1; SELECT 2", "SELEKT 1", "INSERT INTO files SELECT * FROM files", "DELETE FROM files",
        "WITH gone AS (DELETE FROM files RETURNING *) SELECT * FROM gone",
        "CREATE TABLE mine AS SELECT 1", "DROP VIEW events", "COPY (SELECT 1) TO 'x.csv'", "EXPORT DATABASE 'x'", "ATTACH 'x.db'",
        "INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "RESET threads", "PRAGMA database_list", "CALL enable_logging()",
        "FROM read_text('/etc/passwd')", "FROM READ_TEXT('/etc/passwd')", "FROM main.read_blob('/etc/passwd')", "FROM glob('/*')",
        "SELECT (SELECT max(content) FROM read_text('/etc/passwd'))",
        "FROM events WHERE EXISTS (FROM arrow_scan(1, 2, 3))", "FROM query('FROM files')", "FROM duckdb_settings()",
        "FROM '/etc/passwd'", "FROM 'secret.csv'", "EXPLAIN ANALYZE SELECT 1", "BEGIN", "COMMIT", "VACUUM", "CHECKPOINT",
    })
    void whatIsNotOnlyReadingIsRefused(String sql) {
        assertThatThrownBy(() -> guarded.head(9, sql)).isInstanceOf(RecordingException.class);
        assertThat(guarded.head(9, "SELECT name FROM events").rows()).hasSize(2);
        assertThat(guarded.head(9, "FROM files").rows()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "FROM read_text('/etc/passwd')", "FROM read_csv('%s/secret.csv')", "FROM '%s/secret.csv'", "FROM glob('%s/*')",
        "COPY (SELECT 1) TO '%s/written.csv'", "ATTACH '%s/written.db'", "EXPORT DATABASE '%s/written'", "LOAD httpfs", "INSTALL httpfs",
        "SET enable_external_access = true", "SET allowed_directories = ['/']", "RESET memory_limit", "CALL enable_logging()",
    })
    void whatTheCheckLetsThroughDuckDbRefuses(String sql) {
        assertThatThrownBy(() -> database.query(sql.replace("%s", folder.toString()))).isInstanceOf(RecordingException.class);
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("run[1]*.parquet", "secret.csv");
    }

    @Test
    void aQueryThatTakesTooLongEndsAndTheNextOneRuns() {
        GuardedQuery hasty = new GuardedQuery(database, Duration.ofMillis(50));
        String endless = "SELECT count(*) FROM range(100000000) AS a, range(100000) AS b WHERE a.range * b.range % 7 = 3";
        assertThatThrownBy(() -> hasty.head(1, endless))
                .isInstanceOf(RecordingException.class)
                .hasMessage("running a query: it took longer than 0 s");
        assertThat(guarded.head(9, "SELECT name FROM events").rows()).hasSize(2);
    }
}
