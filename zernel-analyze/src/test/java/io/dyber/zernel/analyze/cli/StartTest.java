package io.dyber.zernel.analyze.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A process of its own starts no more than it needs: a parser of JSON takes as long to start as a query, and so does DuckDB.
final class StartTest {
    @TempDir
    private Path folder;

    @Test
    void aQueryStartsNoParserOfJson() throws Exception {
        Path file = RecordingFixture.recording().training(2, 15).write(folder.resolve("run.parquet"));
        String said = run(0, "sql", "--csv", file.toString(), "SELECT count(*) > 0 AS ok FROM events");
        assertThat(said).contains("ok\ntrue\n").contains("Initializing 'org/duckdb/DuckDBNative'").doesNotContain("Initializing 'tools/jackson/databind/");
    }

    @Test
    void helpStartsNoDatabase() throws Exception {
        assertThat(run(0, "report", "--help")).contains("Usage: zernel-analyze report").doesNotContain("Initializing 'org/duckdb/");
    }

    @Test
    void aMistakeEndsTheDatabaseThatWasOpenedAhead() throws Exception {
        assertThat(run(2, "report", "--no-such-option")).contains("--no-such-option").contains("Initializing 'org/duckdb/DuckDBNative'");
    }

    /// What it prints, and the classes that are initialized.
    private static String run(int status, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
                "-Djfr.unsupported.vm=true", "--enable-native-access=ALL-UNNAMED", "-Xlog:class+init=info:stdout",
                "-cp", System.getProperty("java.class.path"), Analyze.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isEqualTo(status);
        return said;
    }
}
