package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The recipe of CONTRIBUTING.md for a new finding, followed with one that does not ship: what is said when a step is left out.
@Execution(ExecutionMode.SAME_THREAD) // one database for all
class NewFindingTest {
    private static final String SQL = """
            -- A mark is long. Marks have no length, so something is wrong.
            -- Does not apply to recordings without marks.
            --
            -- needs: events
            -- severity: low
            -- hint: the kind mark has them all
            WITH
                thresholds AS (
                    SELECT
                        5 AS min_ns -- [ns] shortest
                )
            SELECT
                name AS subject, -- text of the mark
                dur_ns AS value, -- how long it is
                'ns' AS unit, -- unit of value
                'low' AS severity, -- always low
                format('{} ns', dur_ns) AS evidence, -- what it rests on
                'ask who made the mark, and what for' AS advice, -- what to try
                'zernel-analyze info' AS next_command -- to see more
            FROM events
            CROSS JOIN thresholds
            WHERE kind = 'mark' AND dur_ns >= min_ns
            """;

    private static Database empty;
    private static SqlRules shipped;

    @BeforeAll
    static void openAnEmptyRecording(@TempDir Path folder) {
        empty = Recordings.open(
                RecordingFixture.recording().footer("zernel.kinds", null).write(folder.resolve("empty.parquet")).toString());
        shipped = SqlRules.of(SqlLibrary.builtIn(), empty);
    }

    @AfterAll
    static void close() {
        empty.close();
    }

    private static SqlObject finding(String sql) {
        return SqlObject.parse("long_mark", SqlObject.Role.FINDING, sql, "findings/long_mark.sql", 1);
    }

    /// The rules, where these tests are written and these findings planted beside those that are.
    private static SqlRules rules(Set<String> tests, Set<String> planted) {
        Set<String> allTests = new HashSet<>(shipped.tests());
        allTests.addAll(tests);
        Set<String> allPlanted = new HashSet<>(shipped.planted());
        allPlanted.addAll(planted);
        return new SqlRules(shipped.library(), empty, allTests, allPlanted, shipped.readers());
    }

    private static SqlRules followed() {
        return rules(Set.of("longMarkFires", "longMarkIsSilentOnInstants"), Set.of("long_mark"));
    }

    @Test
    void theWholeRecipeIsEnough() {
        assertThat(followed().breaches(finding(SQL))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            A mark is long | the header does not say why it matters
            needs:         | the header has no line 'needs:'
            severity:      | the header has no line 'severity:'
            hint:          | the header has no line 'hint:'
            AS subject     | it has no column subject or pid
            AS unit        | it has one of the columns value and unit alone
            AS severity    | it has no column severity or lost_ns
            AS advice      | it has no column advice
            AS advice      | its advice is no text of some words
            """)
    void aLineThatIsLeftOutIsNamed(String line, String said) {
        String sql = SQL.replaceFirst("(?m)^.*" + line + ".*\n", "");
        assertThat(sql).isNotEqualTo(SQL);
        assertThat(followed().breaches(finding(sql))).contains(said);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            A mark is long.         | Long.                         | the header does not begin with a sentence of 10 to 110 characters
            -- [ns] shortest        | ""                            | threshold 'min_ns' has no comment
            -- how long it is       | ""                            | column 'value' has no comment
            'ask who made the mark, and what for' | 'none'          | its advice is no text of some words
            FROM events             | FROM events JOIN steps USING (pid) | 'needs:' says [events], and it reads [events, steps]
            FROM events             | FROM read_parquet('a.parquet')     | it reads files by path
            AND dur_ns >= min_ns    | AND dur_ns >= min_ns ORDER BY value | it makes what sql/finding.sql makes of all: ORDER BY
            dur_ns AS value         | dur_ns AS lost_ns             | it has one of the columns lost_ns and bound_ns alone
            name AS subject         | nam AS subject                | its SQL is wrong: running a query: Binder Error: Referenced column "nam" not found in FROM clause!
            """)
    void aMistakeIsNamed(String part, String mistake, String said) {
        assertThat(SQL).contains(part);
        assertThat(followed().breaches(finding(SQL.replace(part, mistake)))).anyMatch(breach -> breach.startsWith(said));
    }

    @Test
    void whatFindsSomethingInNothingIsNamed() {
        String sql = SQL.replace("name AS subject", "'all' AS subject")
                .replace("dur_ns AS value", "count(*) AS value")
                .replace("format('{} ns', dur_ns)", "''")
                .replace("WHERE kind = 'mark' AND dur_ns >= min_ns\n", "");
        assertThat(followed().breaches(finding(sql))).containsExactly("it finds something in an empty recording");
    }

    @Test
    void testsThatAreNotWrittenAreNamed() {
        assertThat(rules(Set.of("longMarkFires"), Set.of("long_mark")).breaches(finding(SQL)))
                .containsExactly("no test is called longMarkIsSilent...");
        assertThat(rules(Set.of("longMarkIsSilent"), Set.of("long_mark")).breaches(finding(SQL)))
                .containsExactly("no test is called longMarkFires...");
    }

    @Test
    void aCauseThatNoJobHasIsNamed() {
        assertThat(rules(Set.of("longMarkFires", "longMarkIsSilent"), Set.of()).breaches(finding(SQL)))
                .containsExactly("no job of real/jobs.json and no scenario has its cause");
    }

    @Test
    void aPageThatIsNotWrittenAnewIsNamed() throws IOException {
        assertThat(FindingReference.missing(List.of(finding(SQL)))).containsExactly(
                "finding 'long_mark': docs/findings.md does not say what its header says: -Dtest=FindingReferenceTest -Dgolden.update");
    }
}
