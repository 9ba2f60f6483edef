package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The example that records, on a training that really runs.
class ScriptIT {
    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void needs() throws Exception {
        PlantedCausesIT.needs();
    }

    @Test
    void topFindingRecordsARunningJobAndSaysWhatToFix() throws Exception {
        Process training = new ProcessBuilder(PlantedCausesIT.PYTHON, "src/test/workloads/planted.py", "in_process")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            // The training ends long before the minute is over, and the recording with it.
            List<String> command = ScriptTest.command(Path.of("examples/TopFinding.java").toAbsolutePath());
            command.addAll(List.of(String.valueOf(training.pid()), "60"));
            Process script = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String output = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(script.waitFor()).isZero();
            assertThat(output).matches("[\\d,]+ events in run\\.parquet, 0 lost\\n.+ pid " + training.pid() + ": .+\\ntry .+\\n");
        } finally {
            training.destroy();
        }
    }
}
