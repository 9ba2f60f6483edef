package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A training that really runs is recorded, and joined with the trace of its GPU, which it wrote itself with true times.
class TracedTrainingIT {
    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void needs() throws IOException, InterruptedException {
        PlantedCausesIT.needs("needs a machine that can record, see zernel-record doctor", PlantedCausesIT.recorder("doctor"));
        PlantedCausesIT.needs(
                "needs a Python with torch: set ZERNEL_PYTHON", List.of(PlantedCausesIT.PYTHON, "-c", "import torch"));
    }

    @Test
    void aTraceSaysWhatTheGpuDidAndWhyItWasIdle() throws IOException, InterruptedException {
        Path run = folder.resolve("run.parquet");
        Path trace = folder.resolve("trace.json");
        JsonNode truth = record(run, trace);
        try (Database database = Recordings.open(run.toString(), trace.toString())) {
            Table.Row clock = database.query("FROM gpu_traces").only();
            assertThat(clock.text("clock")).isEqualTo("calls");
            assertThat(clock.integer("activities")).isEqualTo(truth.path("kernels").asLong());
            assertThat(clock.integer("matched")).isGreaterThan(100);
            assertThat(clock.integer("shift_ns")).isCloseTo(-5_000_000, within(200_000L));

            Table.Row time = database.query("FROM gpu_time").only();
            for (String what : List.of("profiled", "busy", "compute", "exposed_communication", "idle")) {
                assertThat(time.integer(what + "_ns")).as(what).isEqualTo(truth.path(what).asLong());
            }
            long waits = database.query("SELECT idle_ns FROM gpu_idle_causes WHERE cause = 'data wait'")
                    .only()
                    .integer("idle_ns");
            JsonNode truly = truth.path("idle_waiting_for_data");
            assertThat(waits).isBetween(truly.path(0).asLong(), truly.path(1).asLong());
            assertThat(database.query("FROM unknowns").rows()).isEmpty();
            assertThat(database.query("SELECT busy FROM gpu_busy").only().real("busy"))
                    .isEqualTo(truth.path("busy").asDouble() / truth.path("profiled").asDouble());
        }
    }

    private static JsonNode record(Path run, Path trace) throws IOException, InterruptedException {
        List<String> command = PlantedCausesIT.recorder(
                "-o", run.toString(), "--quiet", "--", PlantedCausesIT.PYTHON, "src/test/workloads/traced.py",
                PlantedCausesIT.standIns().resolve("libcudart.so.12").toString(), trace.toString());
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return JsonMapper.shared().readTree(out);
    }
}
