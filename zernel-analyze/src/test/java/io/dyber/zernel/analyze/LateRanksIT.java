package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Two ranks over gloo really run, and the one that is late is named, without NCCL.
class LateRanksIT {
    private static final int STEPS = 60;
    /// Healthy ones take few milliseconds: in so many, a burst of another program is a small part.
    private static final int HEALTHY_STEPS = 300;

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
        PlantedCausesIT.twice(() -> {
            Path file = newFolder().resolve("run.parquet");
            assertThat(record(file, Map.of(), cause, STEPS).waitFor()).isZero();
            says(file.toString(), why);
        });
    }

    @Test
    void aRecordingOfEachRankSaysTheSame() throws IOException, InterruptedException {
        PlantedCausesIT.twice(() -> says(recordingsOfEachRank(newFolder()), "asleep"));
    }

    private static String recordingsOfEachRank(Path recordings) throws IOException, InterruptedException {
        List<Process> ranks = new ArrayList<>();
        String port = Integer.toString(freePort());
        for (String rank : List.of("0", "1")) {
            Map<String, String> place =
                    Map.of("RANK", rank, "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", port);
            ranks.add(record(recordings.resolve("rank" + rank + ".parquet"), place, "sleeps", STEPS));
        }
        for (Process rank : ranks) {
            assertThat(rank.waitFor()).isZero();
        }
        return recordings.resolve("rank*.parquet").toString();
    }

    /// A rank may really be short of its CPU for a while: that is one recording of three, or two.
    @Test
    void noRankIsNamedWhereNoneIsLate() throws IOException, InterruptedException {
        List<Finding> named = new ArrayList<>();
        for (int recording = 0; recording < 3; recording++) {
            Path file = newFolder().resolve("run.parquet");
            assertThat(record(file, Map.of(), "healthy", HEALTHY_STEPS).waitFor()).isZero();
            Optional<Finding> late;
            try (Database database = Recordings.open(file.toString())) {
                late = named(database.diagnose().findings());
            }
            if (late.isEmpty()) {
                return;
            }
            named.add(late.get());
        }
        assertThat(named).isEmpty();
    }

    private Path newFolder() throws IOException {
        return Files.createTempDirectory(folder, "recorded");
    }

    private static Optional<Finding> named(List<Finding> findings) {
        return findings.stream().filter(finding -> finding.name().equals("nccl_straggler")).findFirst();
    }

    private static void says(String recordings, String why) {
        try (Database database = Recordings.open(recordings)) {
            List<Finding> findings = database.diagnose().findings();
            Finding late = named(findings).orElseThrow(() -> new AssertionError(findings));
            assertThat(PlantedCausesIT.first(findings)).isEqualTo("nccl_straggler");
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

    private static Process record(Path file, Map<String, String> environment, String cause, int steps) throws IOException {
        List<String> command = PlantedCausesIT.recorder(
                "-o", file.toString(), "--quiet", "--", PlantedCausesIT.PYTHON, "src/test/workloads/ranks.py", cause, String.valueOf(steps));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        return builder.start();
    }
}
