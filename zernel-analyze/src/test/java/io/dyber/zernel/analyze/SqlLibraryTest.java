package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.Threshold;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@Execution(ExecutionMode.SAME_THREAD) // one database for all
class SqlLibraryTest {
    private static final SqlLibrary LIBRARY = SqlLibrary.builtIn();

    /// An empty recording, which no test changes.
    private static Database empty;
    private static SqlRules rules;

    @TempDir
    Path folder;

    @BeforeAll
    static void openAnEmptyRecording(@TempDir Path folder) {
        empty = Recordings.open(
                RecordingFixture.recording().footer("zernel.kinds", null).write(folder.resolve("empty.parquet")).toString());
        rules = SqlRules.of(LIBRARY, empty);
    }

    @AfterAll
    static void close() {
        empty.close();
    }

    static List<SqlObject> objects() {
        return List.copyOf(LIBRARY.objects());
    }

    static List<SqlObject> views() {
        return objects().stream().filter(object -> object.role() == SqlObject.Role.VIEW).toList();
    }

    static List<SqlObject> findings() {
        return LIBRARY.findings();
    }

    @Test
    void theLibraryIsFound() {
        assertThat(views()).extracting(SqlObject::name).contains("steps", "phases", "percentiles", "losses", "probes");
        assertThat(findings()).extracting(SqlObject::name)
                .contains("data_bound", "lost_events", "unattached_probes");
    }

    /// Printed, because a view that reads another where it could read what is below costs who reads it.
    @Test
    void noViewStandsOnMoreFloorsThanBefore() {
        Map<String, Integer> known = new HashMap<>();
        int[] floors = objects().stream().mapToInt(object -> floors(object, known)).sorted().toArray();
        int[] ofFindings = findings().stream().mapToInt(finding -> floors(finding, known)).sorted().toArray();
        System.out.printf("%d views and findings on %d floors (median) to %d, findings on %d%n",
                floors.length, floors[floors.length / 2], floors[floors.length - 1], ofFindings[ofFindings.length / 2]);
        assertThat(floors[floors.length / 2]).isLessThanOrEqualTo(17);
        assertThat(floors[floors.length - 1]).isLessThanOrEqualTo(25);
        assertThat(ofFindings[ofFindings.length / 2]).isLessThanOrEqualTo(20);
    }

    private static int floors(SqlObject object, Map<String, Integer> known) {
        Integer floors = known.get(object.name());
        if (floors == null) {
            floors = 1;
            for (String name : object.needs()) {
                SqlObject needed = LIBRARY.find(name);
                floors = Math.max(floors, needed == null ? 1 : floors(needed, known) + 1);
            }
            known.put(object.name(), floors);
        }
        return floors;
    }

    @ParameterizedTest
    @MethodSource("objects")
    void everyObjectKeepsTheRules(SqlObject object) {
        assertThat(rules.breaches(object)).isEmpty();
    }

    @Test
    void aFolderAddsViewsAndFindings() throws IOException {
        Files.writeString(folder.resolve("odd.sql"), "-- Odd.\n-- needs: twice\nCREATE VIEW odd AS SELECT n + 1 AS n FROM twice\n");
        Files.writeString(folder.resolve("twice.sql"), "-- Twice.\nCREATE VIEW twice AS SELECT 2 * count(*) AS n FROM events\n");
        Files.writeString(
                folder.resolve("mine.sql"),
                """
                -- My finding. It always fires.
                SELECT 'all' AS subject, n AS value, 'events' AS unit, 'low' AS severity, 1.5 AS lost_ms_per_step,
                    NULL AS max_speedup, 'odd' AS evidence, 'none' AS advice, '' AS next_command, 7 AS extra
                FROM odd
                """);
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        SqlLibrary library = LIBRARY.with(folder);
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), library)) {
            Finding finding = database.diagnose().findings().getFirst();
            assertThat(finding.name()).isEqualTo("mine");
            assertThat(finding.title()).isEqualTo("My finding.");
            assertThat(finding.value()).isEqualTo(3.0);
            assertThat(finding.more()).containsEntry("extra", 7L);
        }
    }

    @Test
    void ofFactsOfAFindingOfAFolderTheRestIsMade() throws IOException {
        Files.writeString(
                folder.resolve("mine.sql"),
                """
                -- My finding.
                SELECT 0 AS recording, 7 AS pid, 8 AS tid, 30e6 AS part_ns, 100e6 AS step_ns, 20123456 AS lost_ns, 25e6 AS bound_ns,
                    'odd' AS evidence, 'none' AS advice, 'cat {}' AS next_command, 'x' AS extra;
                -- The end.
                """);
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), LIBRARY.with(folder))) {
            assertThat(database.diagnose().findings()).containsExactly(new Finding(
                    "mine", "My finding.", "pid 7 tid 8", 30.0, "% of step time", "medium", 20.123, 1.33,
                    "odd; saves at most 25.0 ms: 100.0 / (100.0 - 25.0) = 1.33x", "none", "cat " + file, Map.of("extra", "x"), List.of()));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            run.parquet       | /run.parquet
            a run.parquet     | '/a run.parquet'
            it's.parquet      | '/it'\\''s.parquet'
            a';cmd;'b.parquet | '/a'\\'';cmd;'\\''b.parquet'
            """)
    void theNameOfAFileIsOneWordOfAShell(String name, String word) {
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve(name));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("SELECT replace(file_label(0), ?, '') AS word", folder.toString()).only().text("word"))
                    .isEqualTo(word);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            'all' AS subject, 1 AS value                                                             | severity
            7 AS pid, 1 AS value, 2 AS lost_ns                                                       | evidence
            7 AS pid, 1 AS value, 2 AS lost_ms_per_step                                              | subject
            7 AS subject, 1 AS value, 2 AS lost_ms_per_step, '' AS unit, '' AS severity              | max_speedup
            """)
    void aFindingOfAFolderThatReturnsTooLittleIsSkippedWithWhatIsMissing(String columns, String missing) throws IOException {
        Files.writeString(folder.resolve("mine.sql"), "-- T.\nSELECT " + columns + "\n");
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), LIBRARY.with(folder))) {
            assertThat(database.diagnose().skipped()).extracting(Diagnosis.Skipped::reason)
                    .containsExactly("running finding 'mine' of " + folder + "/mine.sql: it has no column '" + missing + "'");
        }
    }

    @Test
    void theWorstTwentyRowsOfAFindingAreTold() throws IOException {
        Files.writeString(
                folder.resolve("mine.sql"),
                """
                -- My finding.
                SELECT 0 AS recording, 7 AS pid, CAST(range AS DOUBLE) AS value, 'of 30' AS unit,
                    CASE WHEN range = 3 THEN 'high' ELSE 'low' END AS severity,
                    'odd' AS evidence, 'none' AS advice, '' AS next_command
                FROM range(30)
                """);
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), LIBRARY.with(folder))) {
            assertThat(database.diagnose("mine"))
                    .allSatisfy(finding -> assertThat(finding.subject()).isEqualTo("pid 7"))
                    .extracting(Finding::value)
                    .hasSize(20)
                    .startsWith(3.0, 29.0, 28.0)
                    .endsWith(11.0);
        }
    }

    @Test
    void aFindingThatFailsIsSkippedWithItsReasonAndTheOthersRun() throws IOException {
        Files.writeString(folder.resolve("mine.sql"), "-- Mine.\nSELECT 1 AS subject\n");
        Files.writeString(folder.resolve("odd.sql"), "-- Odd.\n-- needs: broken\nSELECT * FROM broken\n");
        Files.writeString(folder.resolve("broken.sql"), "-- Broken.\nCREATE VIEW broken AS SELECT n FROM nowhere\n");
        Path file = RecordingFixture.recording().training(11, 15).write(folder.resolve("run.parquet"));
        SqlLibrary library = LIBRARY.with(folder);
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), library)) {
            Diagnosis diagnosis = database.diagnose();
            assertThat(diagnosis.findings()).extracting(Finding::name).containsExactly("data_bound");
            assertThat(diagnosis.skipped()).extracting(Diagnosis.Skipped::name).containsExactly("mine", "odd");
            assertThat(diagnosis.skippedText())
                    .startsWith("skipped 2 of the findings: running finding 'mine' of " + folder
                            + "/mine.sql: it has no column 'value'; running finding 'odd' of " + folder
                            + "/odd.sql: creating 'broken' of " + folder + "/broken.sql:2: ")
                    .doesNotContain("\n");
            // Asked again, the same is said.
            assertThat(database.diagnose()).isEqualTo(diagnosis);
        }
    }

    @Test
    void aViewOfAFolderIsReadOnlyWhereItsNameIsARelation() throws IOException {
        // Words of data_bound.sql and of the query: CTEs, columns, aliases.
        for (String word : List.of("thresholds", "training", "evidence", "dur_ns", "name")) {
            Files.writeString(folder.resolve(word + ".sql"), "-- W.\nCREATE VIEW " + word + " AS SELECT x FROM nowhere\n");
        }
        Path file = RecordingFixture.recording().training(11, 15).write(folder.resolve("run.parquet"));
        SqlLibrary library = LIBRARY.with(folder);
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), library)) {
            assertThat(database.diagnose().skipped()).isEmpty();
            assertThat(database.diagnose().findings()).extracting(Finding::name).containsExactly("data_bound");
            assertThat(database.query("WITH training AS (SELECT dur_ns FROM REGION) SELECT count(dur_ns) AS name FROM training")
                            .only().integer("name"))
                    .isEqualTo(22);
            assertThatThrownBy(() -> database.query("FROM name")).hasMessageStartingWith("creating 'name' of " + folder);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            steps.sql       | SELECT 1 AS subject              | 'steps' is a view and this is a finding
            near_oom.sql    | CREATE VIEW near_oom AS SELECT 1 | 'near_oom' is a finding and this is a view
            events.sql      | CREATE VIEW events AS SELECT 1   | 'events' is what views are made of
            mine.sql        | CREATE TABLE theirs AS SELECT 1  | it creates 'theirs'
            Steps.sql       | CREATE VIEW Steps AS SELECT 1    | it creates 'steps'
            """)
    void aFileOfAFolderThatTakesTheNameOfSomethingElseIsRefused(String name, String sql, String why) throws IOException {
        Files.writeString(folder.resolve(name), sql);
        assertThatThrownBy(() -> LIBRARY.with(folder))
                .isInstanceOf(RecordingException.class)
                .hasMessage("reading '" + folder.resolve(name) + "': " + why);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            'many'  | 'high' | NULL  | its value is 'many', no number
            1       | 'dire' | 2.5   | its severity is 'dire', not high, medium or low
            1       | NULL   | 2.5   | its severity is '', not high, medium or low
            1       | 'low'  | 'all' | its lost_ms_per_step is 'all', no number
            """)
    void aFindingOfAFolderThatReturnsSomethingElseIsSkippedWithTheReason(
            String value, String severity, String lost, String why) throws IOException {
        Files.writeString(
                folder.resolve("mine.sql"),
                "-- T.\nSELECT 'it' AS subject, " + value + " AS value, '' AS unit, " + severity + " AS severity, " + lost
                        + " AS lost_ms_per_step, NULL AS max_speedup, '' AS evidence, '' AS advice, '' AS next_command\n");
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        try (Database database =
                Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), LIBRARY.with(folder))) {
            assertThat(database.diagnose().skipped()).extracting(Diagnosis.Skipped::reason)
                    .containsExactly("running finding 'mine' of " + folder + "/mine.sql: " + why);
        }
    }

    @Test
    void aMistypedViewHasASuggestion() {
        assertThatThrownBy(() -> empty.query("FROM stesp"))
                .hasMessageStartingWith("running a query: Catalog Error: Table with name stesp does not exist!")
                .extracting(e -> ((RecordingException) e).hint()).isEqualTo("did you mean 'steps'?");
    }

    @Test
    void wrongSqlIsNamedWithItsFileAndLineAndTheOthersRun() throws IOException {
        Files.writeString(folder.resolve("bad.sql"), "-- Bad.\nSELECT\n    nonsense\nFROM events\n");
        Files.writeString(folder.resolve("my_view.sql"), "-- View.\n\nCREATE VIEW my_view AS\nSELECT a,, b FROM events\n");
        Files.writeString(folder.resolve("reader.sql"), "-- Reader.\n-- needs: my_view\nSELECT a FROM my_view\n");
        Path file = RecordingFixture.recording().region("a", 1, 1).event("lost", "wait", 1, null, "count = 3")
                .write(folder.resolve("run.parquet"));
        SqlLibrary library = LIBRARY.with(folder);
        try (Database database = Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), library)) {
            Diagnosis diagnosis = database.diagnose();
            assertThat(diagnosis.findings()).extracting(Finding::name).contains("lost_events");
            assertThat(diagnosis.skipped()).extracting(Diagnosis.Skipped::reason)
                    .anySatisfy(reason -> assertThat(reason)
                            .startsWith("running finding 'bad' of " + folder + "/bad.sql:3: Binder Error: ")
                            .doesNotContain("\n"))
                    .anySatisfy(reason -> assertThat(reason)
                            .startsWith("running finding 'reader' of " + folder + "/reader.sql: creating 'my_view' of "
                                    + folder + "/my_view.sql:4: Parser Error: "))
                    .hasSize(2);
        }
    }

    @Test
    void thresholdsAreFoundHoweverTheyAreWritten() {
        SqlObject finding = SqlObject.parse(
                "mine",
                SqlObject.Role.FINDING,
                "-- T.\nWITH thresholds AS (SELECT 0.5 AS a, TRUE AS b, 1e-3 AS c -- [ms] of (all) steps\n) SELECT 1 AS subject",
                "mine.sql",
                1);
        assertThat(Threshold.of(finding)).containsExactly(
                new Threshold("a", "0.5", ""), new Threshold("b", "TRUE", ""), new Threshold("c", "1e-3", "[ms] of (all) steps"));
        assertThat(Threshold.set(finding, "a", "2").sql()).contains("(SELECT 2 AS a, TRUE AS b, 1e-3 AS c");
    }
}
