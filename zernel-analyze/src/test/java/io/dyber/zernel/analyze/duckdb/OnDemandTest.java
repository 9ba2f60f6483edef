package io.dyber.zernel.analyze.duckdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Views are there for whatever statement reads them, and a statement runs once.
final class OnDemandTest {
    @TempDir
    private Path folder;

    private Database database;

    @BeforeEach
    void open() {
        database = Recordings.open(recorded());
    }

    @AfterEach
    void close() {
        database.close();
    }

    private String recorded() {
        return RecordingFixture.recording().training(3, 15).write(folder.resolve("run.parquet")).toString();
    }

    @Test
    void everyOfSeveralStatementsRunsOnce() {
        assertThat(database.query("CREATE TEMP TABLE a AS SELECT 1 AS x; SELECT count(*) AS n FROM steps").only().integer("n"))
                .isEqualTo(3);
        assertThat(database.query("INSERT INTO a VALUES (2); SELECT count(*) AS n, any_value(p.phase) AS p FROM a, (FROM phases LIMIT 1) AS p")
                        .only().integer("n"))
                .isEqualTo(2);
        assertThat(database.head(5, "INSERT INTO a VALUES (3); FROM a, kinds SELECT count(DISTINCT x) AS n").only().integer("n"))
                .isEqualTo(3);
        try (Cursor rows = database.stream("INSERT INTO a VALUES (4); SELECT count(*) FROM a WHERE x < ?; ", 9)) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.integer(0, -1)).isEqualTo(4);
        }
    }

    @Test
    void preparingRunsNothing() {
        database.prepare("CREATE TEMP TABLE a AS SELECT 1 AS x; SELECT count(*) FROM steps");
        database.prepare("CREATE TEMP TABLE a AS FROM percentiles");
        assertThat(database.query("CREATE TEMP TABLE a AS SELECT 7 AS x; FROM a").only().integer("x")).isEqualTo(7);
        assertThat(database.query("SELECT DISTINCT table_name AS name FROM duckdb_columns()").texts("name")).contains("steps", "percentiles");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "FROM steps",
        "from STEPS",
        "FROM \"steps\" AS s SELECT s.dur_ns",
        "SELECT * FROM main.steps",
        "SELECT a.x, (SELECT count(*) FROM steps) AS n FROM (VALUES (1)) AS a(x) WHERE EXISTS (FROM steps)",
        "SELECT 1 FROM region LEFT JOIN (SELECT * FROM steps) USING (recording)",
        "SELECT count(*) FROM region, steps",
        "WITH a AS (SELECT * FROM steps) SELECT count(*) FROM a",
        "SELECT * FROM (WITH steps AS (SELECT 1 AS dur_ns) FROM steps), steps",
        "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r, steps WHERE i < 2) FROM r",
        "FROM steps UNION ALL FROM steps",
        "TABLE steps",
        "(FROM steps)",
        "DESCRIBE steps",
        "DESCRIBE SELECT dur_ns FROM steps",
        "SUMMARIZE steps",
        "SHOW steps",
        "EXPLAIN FROM steps",
        "EXPLAIN ANALYZE SELECT count(*) FROM steps",
        "PIVOT steps ON step_kind USING count(*)",
        "FROM (PIVOT steps ON step_kind USING count(*))",
        "UNPIVOT steps ON dur_ns",
        "CREATE TABLE mine AS FROM steps",
        "CREATE OR REPLACE TEMP TABLE mine AS (SELECT 1 AS n FROM steps) UNION (SELECT 2 FROM phases)",
        "CREATE VIEW mine AS SELECT dur_ns FROM steps",
        "CREATE MACRO mine(n) AS TABLE SELECT * FROM steps LIMIT n",
        "CREATE MACRO mine() AS (SELECT count(*) FROM steps)",
        "CREATE INDEX mine ON steps (dur_ns)",
        "COPY steps TO '/dev/null'",
        "COPY (SELECT dur_ns FROM steps) TO '/dev/null' (FORMAT csv)",
        "PREPARE mine AS FROM steps",
        "PRAGMA table_info('steps')",
        "FROM query_table('steps')",
        "FROM query('SELECT count(*) FROM steps')",
        "SELECT * FROM timeline(0, 1000000000, 500000000)",
        "SELECT ';' AS a, $$it's; \"$$ AS b, 'x' AS \"c;\", E'\\';' AS d /* ; */ FROM steps -- ;",
    })
    void whatAStatementReadsIsThere(String statement) {
        Table result = database.query(statement);
        assertThat(result).isNotNull();
    }

    @Test
    void whatAStatementChangesMayComeFromAView() {
        assertThat(database.query("""
                        CREATE TABLE mine (n BIGINT);
                        INSERT INTO mine SELECT count(*) FROM steps;
                        INSERT INTO mine (n) (SELECT count(*) FROM phases WHERE phase = 'DataLoading');
                        UPDATE mine SET n = mine.n + k.n FROM (SELECT count(*) AS n FROM region) AS k;
                        DELETE FROM mine WHERE n IN (SELECT 7 FROM losses);
                        FROM mine SELECT list(n ORDER BY n) AS all;
                        """).only().value("all"))
                .isEqualTo(List.of(7L, 9L));
    }

    @Test
    void aTableOfTheUserHidesTheLibrarys() {
        assertThat(database.query("CREATE TABLE reads AS SELECT 5 AS n; FROM reads").only().integer("n")).isEqualTo(5);
        assertThat(database.query("CREATE TABLE IF NOT EXISTS main.region (n INT); SELECT count(*) AS n FROM region").only().integer("n"))
                .isZero();
        assertThat(database.query("DROP TABLE region; SELECT count(*) AS n FROM region").only().integer("n")).isEqualTo(6);
    }

    /// What is not computed because a table has no row is, once the user gave it some.
    @Test
    void rowsOfTheUserInATableThatHadNoneAreRead() {
        assertThat(database.query("SELECT count(*) AS n FROM _arrivals").only().integer("n")).isZero();
        assertThat(database.query("INSERT INTO _arrivals (comm_id, number, at_ns) VALUES (1, 1, 5); FROM _middle_arrivals").only().integer("middle_ns"))
                .isEqualTo(5);
    }

    @Test
    void aMistypedNameInsideOfAStatementHasASuggestion() {
        for (String statement : List.of("CREATE TABLE mine AS FROM stesp", "SUMMARIZE stesp", "PIVOT stesp ON kind", "SELECT 1; FROM stesp")) {
            assertThatThrownBy(() -> database.query(statement))
                    .as(statement)
                    .hasMessageStartingWith("running a query: Catalog Error: Table with name stesp does not exist!")
                    .hasMessageNotContaining("Did you mean")
                    .extracting(e -> ((RecordingException) e).hint()).isEqualTo("did you mean 'steps'?");
        }
    }

    @Test
    void aViewThatIsNotThereCannotBeDroppedOrAltered() {
        for (String statement : List.of("DROP VIEW phases", "ALTER VIEW phases RENAME TO p")) {
            assertThatThrownBy(() -> database.query(statement))
                    .hasMessage("running a query: Catalog Error: View with name phases does not exist!")
                    .extracting(e -> ((RecordingException) e).hint())
                    .isEqualTo("the library's views exist only while they are read: nothing to drop");
        }
    }

    @Test
    void aBrokenViewOfAFolderIsNamedByWhateverReadsIt() throws IOException {
        Files.writeString(folder.resolve("broken.sql"), "-- Broken.\nCREATE VIEW broken AS SELECT x FROM nowhere\n");
        Files.writeString(folder.resolve("dur_ns.sql"), "-- Reads what reads it.\nCREATE VIEW dur_ns AS SELECT x FROM outer_view\n");
        Files.writeString(folder.resolve("outer_view.sql"), "-- Outer.\nCREATE VIEW outer_view AS SELECT dur_ns AS x FROM events\n");
        try (Database other = Recordings.open(List.of(recorded()), DatabaseOptions.defaults(), SqlLibrary.builtIn().with(folder))) {
            for (String statement : List.of("FROM broken", "CREATE TABLE mine AS FROM broken", "PIVOT broken ON x", "FROM query_table('broken')")) {
                assertThatThrownBy(() -> other.query(statement))
                        .as(statement)
                        .hasMessageStartingWith("creating 'broken' of " + folder + "/broken.sql:2: Catalog Error: Table with name nowhere");
            }
            assertThat(other.query("CREATE TABLE mine AS SELECT 1 AS broken; FROM mine").only().integer("broken")).isEqualTo(1);
            assertThat(other.query("SELECT count(x) AS n FROM dur_ns").only().integer("n")).isEqualTo(9);
        }
    }
}
