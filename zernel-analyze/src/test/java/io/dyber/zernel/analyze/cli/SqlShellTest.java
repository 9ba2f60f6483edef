package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.Statements;
import io.dyber.zernel.format.RecordingException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.DumbTerminal;
import org.jline.terminal.impl.ExternalTerminal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqlShellTest {
    @TempDir
    Path folder;

    @Test
    void statementsEndAtASemicolonOutsideOfQuotesAndComments() {
        assertThat(Statements.of("SELECT ';' AS \"a;b\" -- c;\n/* d; */ ; ;\n-- e\nSELECT 2"))
                .containsExactly("SELECT ';' AS \"a;b\" -- c;\n/* d; */", "-- e\nSELECT 2");
        assertThat(Statements.of(" -- nothing\n")).isEmpty();
        assertThat(Statements.end("SELECT 'it''s;'")).isEqualTo(-1);
        assertThat(Statements.end("SELECT 'open;")).isEqualTo(-1);
        assertThat(Statements.end("a;b")).isEqualTo(2);
    }

    @Test
    void aStatementMayTakeSeveralLines() throws IOException {
        assertThat(shell("SELECT count(*) AS n\nFROM region\n;\n.quit\nSELECT 5;\n")).contains("n\n2\n").doesNotContain("\n5\n");
    }

    @Test
    void anErrorIsOneLineAndTheShellGoesOn() throws IOException {
        assertThat(shell("SELECT nonsense FROM events;\n.schema x;y\n.nothing\nSELECT 40 + 2 AS n;\n"))
                .contains("running a query: Binder Error: Referenced column \"nonsense\" not found")
                .contains("describing 'x;y': that is not a name\nhint: .schema steps\n")
                .contains("running '.nothing': no such command\nhint: .help lists them\n")
                .contains(" n\n42\n")
                .doesNotContain("LINE 1:", "Exception");
    }

    @Test
    void dotCommandsTellNamesColumnsAndSql() throws IOException {
        assertThat(shell(".tables\n.schema steps\n.explain data_bound\n.timing\nSELECT 1 AS one;\n"))
                .contains("steps                      Steps of each training thread")
                .contains("\nand each kind of events, with its columns only: region\n")
                .containsPattern("data_loading_ns +BIGINT")
                .contains("data_bound: ", "SQL of sql/findings/data_bound.sql\n")
                .contains("timing is on\n")
                .containsPattern("one\n  1\n0\\.\\d{3} s\n");
    }

    @Test
    void aLongResultIsCut() throws IOException {
        assertThat(shell("SELECT i FROM range(1000000000) AS r(i);\n"))
                .contains("\n999\n")
                .contains("and more rows than 1000: add LIMIT, or use zernel-analyze export --sql\n");
    }

    @Test
    void tabOffersNamesOfViewsKindsAndColumns() {
        try (Database database = Recordings.open(file())) {
            assertThat(new SqlSession(database, new TableOutput(), new java.io.PrintWriter(java.io.Writer.nullWriter()), 10).words())
                    .contains("SELECT", "steps", "data_loading_ns", "region", "kernel", ".explain");
        }
    }

    @Test
    void tabOffersTablesBehindFromAndPutsNothingInThatIsOneOfMany() throws IOException {
        assertThat(typed("SELECT count(*) AS n FROM regio\t;\n")).containsPattern("(?m)^n\\n2$");
        // One Tab would do for a name that is the only one; of several, two put in nothing.
        assertThat(typed("SELECT count(*) AS n FROM step_\t\t\b\b\b\b\bregion;\n"))
                .contains("step_mean")
                .doesNotContain("step_kind")
                .containsPattern("(?m)^n\\n2$");
    }

    @Test
    void aRunningQueryIsCancelled() throws Exception {
        try (Database database = Recordings.open(file())) {
            AtomicReference<@Nullable RecordingException> failure = new AtomicReference<>();
            Thread query = Thread.ofPlatform().unstarted(() -> {
                try {
                    Table _ = database.query("SELECT sum(a.i * b.i) FROM range(10000000) AS a(i), range(10000000) AS b(i)");
                } catch (RecordingException e) {
                    failure.set(e);
                }
            });
            query.start();
            while (query.isAlive()) {
                database.cancel();
                query.join(10);
            }
            assertThat(failure.get()).isNotNull();
            assertThat(database.query("SELECT 7 AS n").only().integer("n")).isEqualTo(7);
        }
    }

    private String file() {
        return recording().region("a", 1, 1).region("b", 3, 1).write(folder.resolve("run.parquet")).toString();
    }

    /// What a terminal shows that knows of keys, without its escape sequences.
    private String typed(String keys) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Terminal terminal = new ExternalTerminal(
                        "test", "xterm", new ByteArrayInputStream(keys.getBytes(StandardCharsets.UTF_8)), out, StandardCharsets.UTF_8);
                Database database = Recordings.open(file())) {
            new SqlShell(database, new TableOutput(), terminal).run(folder.resolve("history"));
        }
        return out.toString(StandardCharsets.UTF_8).replaceAll("\u001B(\\[[\\d;?]*[a-zA-Z]|[=>])|\r", "");
    }

    private String shell(String typed) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Terminal terminal = new DumbTerminal(
                        "test", "dumb", new ByteArrayInputStream(typed.getBytes(StandardCharsets.UTF_8)), out, StandardCharsets.UTF_8);
                Database database = Recordings.open(file())) {
            new SqlShell(database, new TableOutput(), terminal).run(folder.resolve("history"));
        }
        return out.toString(StandardCharsets.UTF_8).replace("\r", "");
    }
}
