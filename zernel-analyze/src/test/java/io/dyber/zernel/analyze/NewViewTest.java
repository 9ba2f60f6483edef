package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The recipe of CONTRIBUTING.md for a new view, followed with one that does not ship: what is said when a step is left out.
class NewViewTest {
    private static final String SQL = """
            -- Marks by text.
            --
            -- needs: events
            CREATE VIEW texts_of_marks AS
            SELECT
                name, -- text
                count(*) AS count -- marks that have it
            FROM events
            WHERE kind = 'mark'
            GROUP BY ALL
            """;
    private static final String TEST = "assertThat(database.query(\"FROM texts_of_marks\").rows())";

    @TempDir
    Path folder;

    private Path recording = Path.of("");

    @BeforeEach
    void writeAnEmptyRecording() {
        recording = RecordingFixture.recording().footer("zernel.kinds", null).write(folder.resolve("empty.parquet"));
    }

    private List<String> breaches(String name, String sql, String readers) throws IOException {
        Files.writeString(folder.resolve(name + ".sql"), sql);
        SqlLibrary library = SqlLibrary.builtIn().with(folder);
        try (Database database = Recordings.open(List.of(recording.toString()), DatabaseOptions.defaults(), library)) {
            SqlRules shipped = SqlRules.of(library, database);
            SqlRules rules = new SqlRules(library, database, shipped.tests(), shipped.planted(), readers);
            return rules.breaches(Objects.requireNonNull(library.find(name)));
        }
    }

    @Test
    void theWholeRecipeIsEnough() throws IOException {
        assertThat(breaches("texts_of_marks", SQL, TEST)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            -- Marks by text. | --                      | the header does not begin with a sentence of 10 to 110 characters
            -- needs: events  | --                      | the header has no line 'needs:'
            FROM events       | FROM steps              | 'needs:' says [events], and it reads [steps]
            needs: events     | needs: data_bound       | it reads the finding 'data_bound'
            -- marks that have it | ""                  | column 'count' has no comment
            SELECT            | SELECT *                | it selects * and no columns by name
            CREATE VIEW texts_of_marks AS | CREATE VIEW texts_of_marks AS SELECT 1; CREATE VIEW texts_of_marks AS | no line says 'CREATE VIEW texts_of_marks AS'
            """)
    void aMistakeIsNamed(String part, String mistake, String said) throws IOException {
        assertThat(SQL).contains(part);
        assertThat(breaches("texts_of_marks", SQL.replace(part, mistake), TEST)).contains(said);
    }

    @Test
    void aViewWithoutATestIsNamed() throws IOException {
        assertThat(breaches("texts_of_marks", SQL, "")).containsExactly("nothing reads it, and no test has rows of it");
    }

    @Test
    void aPrivateViewOfOneReaderInAFileOfItsOwnIsNamed() throws IOException {
        Files.writeString(folder.resolve("texts_of_marks.sql"), SQL.replace("events", "_marks"));
        String sql = SQL.replace("texts_of_marks", "_marks");
        String place = folder.resolve("texts_of_marks.sql").toString();
        assertThat(breaches("_marks", sql, "")).containsExactly("its place is " + place + ", because [" + place + "] read it");
    }
}
