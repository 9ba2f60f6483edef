package io.dyber.zernel.record.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SimulateCommandTest {
    @TempDir Path folder;

    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource({
        "--simulate=sloth, unknown scenario 'sloth': the scenarios are healthy",
        "--simulate=hang --ranks=1, scenario 'hang' needs --ranks=2 or more",
        "--simulate --strength=90%, --strength is at most 80%",
        "--simulate --steps=0, at least 1",
        "--simulate --events=0, at least 1",
        "--simulate --cause=hang@node=0, --cause and --length-spread go with --per-node=N",
        "--simulate --ranks=4 --per-node=2 --cause=hang@node=2, 'there are 4 ranks, 2 on a machine'",
        "--simulate --ranks=4 --per-node=2 --cause=comm-bound@node=0, concerns all ranks; causes of some are data-bound-cpu",
        "--simulate --ranks=4 --per-node=2 --events=9, --per-node goes with --steps"
    })
    void wrongUsageSaysWhatIsRight(String options, String message) {
        assertThat(run(options.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aScenarioAboutRanksHasSeveral() {
        assertThat(run("--simulate=comm-bound", "--ranks=2", "--steps=5", "--strength=20%")).isZero();
        assertThat(err.toString()).contains("simulated events, 5 steps (comm-bound, seed 1)");
        assertThat(folder.resolve("run.parquet")).isNotEmptyFile();
    }

    @Test
    void aJobOnManyMachinesIsAFolderThatWasEmpty() throws IOException {
        assertThat(run("--simulate", "--ranks=3", "--per-node=2", "--steps=3")).isZero();
        assertThat(folder.resolve("run.parquet")).isDirectoryContaining("glob:**/node0001.parquet");
        assertThat(err.toString()).contains("2 recordings, ", "3 ranks, 3 steps (healthy, seed 1)");
        assertThat(new CommandLine(new RecordCommand()).execute("--simulate", "--per-node=2")).isEqualTo(2);
    }

    @Test
    void anEarlierRecordingIsKeptAndSaidSo() throws IOException {
        Files.writeString(folder.resolve("run.parquet"), "precious");

        assertThat(run("--simulate", "--steps=5")).isZero();
        assertThat(err.toString())
                .contains("zernel-record: kept the earlier recording as " + folder.resolve("run.1.parquet") + "\n");
        assertThat(folder.resolve("run.1.parquet")).hasContent("precious");
    }

    @Test
    void quietMeansThatNothingIsPrinted() {
        assertThat(run("-q", "--simulate", "--steps=5")).isZero();
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void helpNamesTheOptionsOfASimulation() {
        assertThat(new CommandLine(new RecordCommand()).getUsageMessage())
                .contains("--seed N", "--steps N", "--ranks N", "--strength 30%", "at most 80%");
    }

    private int run(String... options) {
        CommandLine line = new CommandLine(new RecordCommand()).setErr(new PrintWriter(err, true));
        String[] all = new String[options.length + 2];
        all[0] = "-o";
        all[1] = folder.resolve("run.parquet").toString();
        System.arraycopy(options, 0, all, 2, options.length);
        return line.execute(all);
    }
}
