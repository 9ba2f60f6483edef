package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The notebooks' SQL runs through JDBC on the recordings beside them, also where no Jupyter is; `NotebookIT` runs the
/// notebooks themselves.
class NotebookTest {
    static List<Notebook> notebooks() throws IOException {
        return Notebook.all();
    }

    @Test
    void thereAreFive() throws IOException {
        assertThat(Notebook.all()).hasSize(5);
        assertThat(Notebook.all().stream().filter(Notebook::isJava)).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("notebooks")
    void everyStatementGivesRows(Notebook notebook) throws SQLException {
        assertThat(notebook.statements()).hasSizeGreaterThanOrEqualTo(3);
        if (notebook.isJava()) {
            Path recording = Notebook.FOLDER.resolve("data/run.parquet");
            try (Database job = Recordings.open(recording.toString())) {
                for (String sql : notebook.statements()) {
                    assertThat(job.query(sql).rows()).as(sql).isNotEmpty();
                }
            }
            return;
        }
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:")) {
            run(connection, "SET file_search_path = '" + Notebook.FOLDER + "'");
            for (String sql : notebook.statements()) {
                assertThat(run(connection, sql)).as(sql).isTrue();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("notebooks")
    void outputsAreNotCommitted(Notebook notebook) {
        assertThat(notebook.codeCells()).allSatisfy(cell -> {
            assertThat(cell.path("outputs")).isEmpty();
            assertThat(cell.path("execution_count").isNull()).isTrue();
        });
    }

    @Test
    void theRecordingsAreSmall() throws IOException {
        try (Stream<Path> files = Files.list(Notebook.FOLDER.resolve("data"))) {
            assertThat(files.mapToLong(file -> file.toFile().length()).sum()).isLessThan(2 << 20);
        }
    }

    /// Whether it defined a view, or gave a row that holds more than NULL.
    private static boolean run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(sql) || sql.strip().startsWith("CREATE")) {
                return true;
            }
            try (ResultSet rows = statement.getResultSet()) {
                return rows.next() && rows.getObject(1) != null;
            }
        }
    }
}
