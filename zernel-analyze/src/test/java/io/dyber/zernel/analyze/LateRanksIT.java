package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Two ranks over gloo really run, and the one that is late is named, without NCCL.
class LateRanksIT {
    private static final String STEPS = "60";

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void needs() throws IOException, InterruptedException {
        PlantedCausesIT.needs("needs a machine that can record, see zernel-record doctor", PlantedCausesIT.recorder("doctor"));
        PlantedCausesIT.needs(
                "needs a Python with torch: set ZERNEL_PYTHON", List.of(PlantedCausesIT.PYTHON, "-c", "import torch"));
    }

    @ParameterizedTest
    @CsvSource({"sleeps, asleep", "data, data wait", "computes, compute"})
    void theLateRankIsNamedAndWhyItIsLate(String cause, String why) throws IOException, InterruptedException {
        Path file = folder.resolve("run.parquet");
        assertThat(record(file, Map.of(), cause).waitFor()).isZero();
        says(file.toString(), why);
    }

    @Test
    void aRecordingOfEachRankSaysTheSame() throws IOException, InterruptedException {
        List<Process> ranks = new ArrayList<>();
        String port = Integer.toString(freePort());
        for (String rank : List.of("0", "1")) {
            Map<String, String> place =
                    Map.of("RANK", rank, "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", port);
            ranks.add(record(folder.resolve("rank" + rank + ".parquet"), place, "sleeps"));
        }
        for (Process rank : ranks) {
            assertThat(rank.waitFor()).isZero();
        }
        says(folder.resolve("rank*.parquet").toString(), "asleep");
    }

    @Test
    void noRankIsNamedWhereNoneIsLate() throws IOException, InterruptedException {
        Path file = folder.resolve("run.parquet");
        assertThat(record(file, Map.of(), "healthy").waitFor()).isZero();
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.diagnose().findings()).extracting(Finding::name).doesNotContain("nccl_straggler");
        }
    }

    private static void says(String recordings, String why) {
        try (Database database = Recordings.open(recordings)) {
            List<Finding> findings = database.diagnose().findings();
            Finding late = findings.stream()
                    .filter(finding -> finding.name().equals("nccl_straggler"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(findings));
            assertThat(findings.getFirst()).isEqualTo(late);
            assertThat(late.subject()).startsWith("rank 1 of 2, ");
            assertThat(late.more()).containsEntry("cause", why);
            // 15 ms of CPU time or sleep take at least as long on a loaded machine.
            assertThat(late.lostMillisPerStep()).isGreaterThan(11);
            // What the late rank waits for is not said to be communication of the other one, nor the other way round.
            findings.stream()
                    .filter(finding -> finding.name().equals("exposed_communication"))
                    .forEach(finding -> assertThat(finding.subject()).isEqualTo("2 ranks"));
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Process record(Path file, Map<String, String> environment, String cause) throws IOException {
        List<String> command = PlantedCausesIT.recorder(
                "-o", file.toString(), "--quiet", "--", PlantedCausesIT.PYTHON, "src/test/workloads/ranks.py", cause, STEPS);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        return builder.start();
    }
}
