package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Jobs without PyTorch, in C and in Python, of which somebody names the parts: what they time themselves is the truth.
class RolesIT {
    private static final String WORKLOADS = "../zernel-record/src/test/workloads";

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void needs() throws IOException, InterruptedException {
        PlantedCausesIT.needs("needs a machine that can record, see zernel-record doctor", PlantedCausesIT.recorder("doctor"));
    }

    @Test
    void functionsOfAProgramInCHaveRoles() throws IOException, InterruptedException {
        Path program = Path.of("target/workloads/roles").toAbsolutePath();
        run(List.of("make", "-s", "-C", WORKLOADS, "OUT=" + program.getParent(), program.toString()));
        Path library = program.resolveSibling("librole.so");
        Path run = folder.resolve("run.parquet");
        JsonNode truth = record(
                run,
                List.of(
                        "--probe", library + ":next_batch(role=data_wait, asked_us=arg1)",
                        "--probe", library + ":compute(role=compute)",
                        "--probe", library + ":update(role=optimizer)",
                        "--probe", library + ":save(role=checkpoint)",
                        "--probe", program + ":train_step(role=step)"),
                program.toString(),
                "60");
        try (Database database = Recordings.open(run.toString())) {
            assertThat(database.query("SELECT name, role, count(*) AS n FROM events WHERE kind = 'call' GROUP BY ALL ORDER BY 1")
                            .toString())
                    .isEqualTo("""
                            name	role	n
                            compute	compute	60
                            next_batch	data_wait	60
                            save	checkpoint	3
                            train_step	step	60
                            update	optimizer	60""");
            assertThat(database.query("SELECT DISTINCT asked_us FROM events WHERE role = 'data_wait'").only().integer("asked_us"))
                    .isEqualTo(12_000);
            assertThat(steps(database)).isEqualTo("60 role of train_step");
            isAsLong(database, "data_wait", truth.path("waited"));
            isAsLong(database, "compute", truth.path("computed"));
            isAsLong(database, "optimizer_step", truth.path("updated"));
            assertThat(database.query("SELECT step FROM checkpoint_steps ORDER BY step").toString())
                    .isEqualTo("step\n20\n40");
            Finding wait = finding(database, "data_bound");
            assertThat(wait.evidence()).contains("all in next_batch, which is asleep or blocked for ");
            assertThat(wait.lostMillisPerStep()).isBetween(12.0, truth.path("waited").asLong() / 60e6 + 12.0);
        }
    }

    @Test
    void aPythonProgramMarksItsRegionsWithoutAnyPackage() throws IOException, InterruptedException {
        Path run = folder.resolve("run.parquet");
        JsonNode truth = record(run, List.of("--probe", "py_region"), "python3", WORKLOADS + "/regions.py", "60");
        try (Database database = Recordings.open(run.toString())) {
            assertThat(database.query("""
                    SELECT name, count(*) AS n, count(dur_ns) AS ended FROM events WHERE kind = 'region' GROUP BY name ORDER BY name
                    """).toString()).isEqualTo("""
                    name	n	ended
                    other	50	50
                    zernel.compute	60	60
                    zernel.data_wait	60	60
                    zernel.step	60	60""");
            assertThat(steps(database)).isEqualTo("60 role of zernel.step");
            isAsLong(database, "data_wait", truth.path("data_wait"));
            isAsLong(database, "compute", truth.path("compute"));
            assertThat(finding(database, "data_bound").evidence()).contains("all in zernel.data_wait, which is asleep");
        }
    }

    @Test
    void functionsOfPythonThatCCallsHaveRoles() throws IOException, InterruptedException {
        Path run = folder.resolve("run.parquet");
        JsonNode truth = record(
                run,
                List.of("--probe", "py_call:next_*(role=data_wait)", "--probe", "py_call:train_step(role=step)"),
                "python3", WORKLOADS + "/partials.py", "60");
        try (Database database = Recordings.open(run.toString())) {
            assertThat(steps(database)).isEqualTo("60 role of train_step");
            isAsLong(database, "data_wait", truth.path("data_wait"));
        }
    }

    private static String steps(Database database) {
        Table.Row thread = database.query("SELECT steps, step_source FROM training_threads").only();
        return thread.integer("steps") + " " + thread.text("step_source");
    }

    /// The program's clock is read inside the calls, or around them: they differ by what a call costs, and by what else runs.
    private static void isAsLong(Database database, String part, JsonNode truth) {
        long recorded = database.query("SELECT total_ns FROM phase_parts WHERE part = '" + part + "'").only().integer("total_ns");
        assertThat((double) recorded).as(part).isCloseTo(truth.asDouble(), within(0.3 * truth.asDouble() + 20e6));
    }

    private static Finding finding(Database database, String name) {
        return database.diagnose().findings().stream()
                .filter(finding -> finding.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static JsonNode record(Path run, List<String> probes, String... job) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(PlantedCausesIT.recorder("-o", run.toString(), "--quiet"));
        command.addAll(probes);
        command.add("--");
        command.addAll(List.of(job));
        return JsonMapper.shared().readTree(run(command));
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return out;
    }
}
