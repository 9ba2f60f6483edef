package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
        Path began = folder.resolve("began").toAbsolutePath();
        ProcessBuilder builder = new ProcessBuilder(PlantedCausesIT.PYTHON, "src/test/workloads/planted.py", "in_process")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // More steps than there is time for: the script is compiled first.
        builder.environment().putAll(Map.of("PLANTED_STEPS", "1000000", "PLANTED_BEGAN", began.toString()));
        Process training = builder.start();
        try {
            while (!Files.exists(began)) {
                assertThat(training.isAlive()).isTrue();
                Thread.sleep(50);
            }
            List<String> command = ScriptTest.command(Path.of("examples/TopFinding.java").toAbsolutePath());
            command.addAll(List.of(String.valueOf(training.pid()), "5"));
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
