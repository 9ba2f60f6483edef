package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.cli.option.StandardOutput;
import io.dyber.zernel.analyze.cli.option.TerminalOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// What the commands say to somebody who made a mistake, and where their output cannot be written.
class MisuseTest {
    @TempDir
    Path folder;

    private String file = "";

    @BeforeEach
    void record() {
        file = recording().training(40, 15).io(1, 2, 70).write(folder.resolve("run.parquet")).toString();
    }

    /// Not one of the errors of a decoder, of which there are many.
    @Test
    void aDamagedPageIsOneLineThatSaysSo() throws IOException {
        try (RandomAccessFile pages = new RandomAccessFile(file, "rw")) {
            byte[] zeros = new byte[400];
            pages.seek(4);
            pages.write(zeros);
        }
        for (List<String> command : List.of(List.of("report"), List.of("steps"), List.of("percentiles"))) {
            Outcome outcome = Outcome.of(command.getFirst(), file);
            assertThat(outcome.status()).as("%s", command).isEqualTo(1);
            assertThat(outcome.err()).as("%s", command)
                    .matches("zernel-analyze: reading '" + file + "': damaged: [^\n]+\n"
                            + "hint: copy it again from where it was recorded\n");
        }
    }

    @Test
    void aQueryThatIsWrongIsNotTakenForDamage() {
        assertThat(Outcome.of("sql", file, "SELECT CAST(name AS INTEGER) FROM events").err())
                .startsWith("zernel-analyze: running a query: ")
                .doesNotContain("damaged");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "steps --slowest -5 FILE         | Invalid value for option '--slowest': '-5' is not a number from 1 on",
        "nccl --latest 0 FILE            | Invalid value for option '--latest': '0' is not a number from 1 on",
        "report --width x FILE           | Invalid value for option '--width': 'x' is not a number from 1 on",
    })
    void aNumberThatCannotBeIsWrongUsage(String words, String message) {
        Outcome outcome = Outcome.of(words.replace("FILE", file).split(" "));
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).startsWith("zernel-analyze: " + message + "\n");
    }

    @Test
    void aQueryBeforeTheRecordingIsToldItsPlace() {
        Outcome outcome = Outcome.of("sql", "FROM steps", file);
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err())
                .startsWith("zernel-analyze: the query comes last: zernel-analyze sql " + file + " \"FROM steps\"\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "gone.parquet | record one: sudo zernel-record -o gone.parquet",
        "gone.json.gz | torch.profiler writes a trace: profile.export_chrome_trace('gone.json.gz')",
        "gone.csv     | recordings end in .parquet, traces of PyTorch's profiler in .json or .json.gz, of Nsight Systems in .sqlite",
    })
    void aFileThatIsNotThereHasAHintThatFitsItsName(String name, String hint) {
        assertThat(Outcome.of("gpu", file, name).err())
                .isEqualTo("zernel-analyze: opening '" + name + "': no such file\nhint: " + hint + "\n");
    }

    @Test
    void aFileOfAnotherFormatIsToldWhatIsRead() throws IOException {
        Path table = Files.writeString(folder.resolve("x.csv"), "a,b\n");
        assertThat(Outcome.of("gpu", file, table.toString()).err())
                .isEqualTo("zernel-analyze: opening '" + table + "': not a Parquet file\n"
                        + "hint: zernel-analyze reads what zernel-record wrote, and traces of profilers (.json, .json.gz, .sqlite)\n");
    }

    @Test
    void aMistypedFindingIsToldTheRightOne() {
        assertThat(Outcome.of("findings", "--explain", "data_boud").err())
                .isEqualTo("""
                        zernel-analyze: explaining 'data_boud': no such finding or view
                        hint: did you mean 'data_bound'?
                        """);
    }

    @Test
    void aMistypedKindIsToldTheRightOne() {
        Outcome outcome = Outcome.of("percentiles", "--kind", "regoin", file);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .isEqualTo("""
                        zernel-analyze: selecting 'regoin': no such kind of event
                        hint: did you mean 'region'?
                        """);
    }

    @Test
    void everyStatementOfAQueryIsAnswered() {
        assertThat(Outcome.of("sql", file, "SELECT 1 AS a; SELECT 2 AS b").out()).isEqualTo("""
                a
                1
                b
                2
                """);
    }

    @Test
    void aViewThatCannotBeDroppedIsSaidInOneLine() {
        assertThat(Outcome.of("sql", file, "DROP VIEW steps").err())
                .isEqualTo("""
                        zernel-analyze: running a query: Catalog Error: View with name steps does not exist!
                        hint: the library's views exist only while they are read: nothing to drop
                        """);
    }

    @Test
    void aTableThatIsTooWideNamesTheColumnsItLeavesOut() {
        Outcome outcome = Outcome.of("sql", "--width", "60", file, "FROM events");
        assertThat(outcome.out().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(60));
        assertThat(outcome.out()).startsWith("kind");
        assertThat(outcome.out().replace('\n', ' '))
                .containsPattern("\\(no room for [a-z_]+, .*; \\d+ columns without a value; --csv and --json print all\\) $");
        assertThat(Outcome.of("sql", "--csv", file, "FROM events").out()).startsWith("kind,name,ts_ns,dur_ns,pid,");
    }

    @Test
    void anEmptyTableHasItsHeaderInCsv() {
        assertThat(Outcome.of("nccl", "--csv", file).out()).startsWith("comm_id,recording,pid,").hasLineCount(1);
        assertThat(Outcome.of("findings", "--csv", recording().region("a", 1, 1).write(folder.resolve("a.parquet")).toString()).out())
                .startsWith("finding,title,subject,");
    }

    @Test
    void theJsonSchemaNeedsNoRecording() {
        Outcome without = Outcome.of("report", "--json-schema");
        assertThat(without.err()).isEmpty();
        assertThat(without.out()).isEqualTo(Outcome.of("report", "--json-schema", file).out());
    }

    @Test
    void outputThatCannotBeWrittenIsAnError() {
        Outcome full = writing("No space left on device", "info", file);
        assertThat(full.status()).isEqualTo(1);
        assertThat(full.err()).isEqualTo("zernel-analyze: writing to standard output: No space left on device\n");
    }

    @Test
    void aReaderThatHasEnoughIsNoError() {
        assertThat(writing("Broken pipe", "info", file)).isEqualTo(new Outcome(0, "", ""));
    }

    /// The output of a command that gets an error for each write.
    private static Outcome writing(String error, String... arguments) {
        StandardOutput out = new StandardOutput(new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw new IOException(error);
            }
        });
        StringWriter err = new StringWriter();
        CommandLine analyze = Analyze.commandLine(arguments).setOut(out.writer()).setErr(new PrintWriter(err, true));
        return new Outcome(Analyze.execute(analyze, out, arguments), "", err.toString());
    }

    @Test
    void coloursAreForTerminalsThatHaveThem() {
        assertThat(TerminalOptions.hasColours(Map.of("TERM", "xterm-256color"))).isTrue();
        assertThat(TerminalOptions.hasColours(Map.of("TERM", "dumb"))).isFalse();
        assertThat(TerminalOptions.hasColours(Map.of("TERM", "xterm", "NO_COLOR", "1"))).isFalse();
    }
}
