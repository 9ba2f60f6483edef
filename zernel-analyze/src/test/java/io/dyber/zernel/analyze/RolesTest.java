package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Steps, phases and findings of calls whose role in a step somebody named.
class RolesTest {
    private static final String STEPS = """
            SELECT step, start_ns // 1000000 %% 100000 AS at, dur_ns // 1000000 AS ms, data_loading_ns // 1000000 AS data,
                gpu_compute_ns // 1000000 AS compute, nccl_collective_ns // 1000000 AS collective,
                optimizer_step_ns // 1000000 AS optimizer, unknown_ns // 1000000 AS unknown, source, step_kind
            FROM steps WHERE step %s ORDER BY step""";

    @TempDir
    Path folder;

    private String query(RecordingFixture fixture, String sql) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }

    private List<Finding> findings(RecordingFixture fixture) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.diagnose().findings();
        }
    }

    private static RecordingFixture call(RecordingFixture fixture, String role, String name, double at, double dur) {
        return fixture.event("call", name, at, dur, "role = '" + role + "'");
    }

    /// Steps of 40 ms: waiting for data 10, computing 15, waiting for all 5, optimizing 4, and 6 between calls.
    private static RecordingFixture job(int steps, String kind) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < steps; i++) {
            double at = 40.0 * i;
            String role = kind.equals("region") ? "" : "role = '%s'";
            fixture.event(kind, name(kind, "step"), at, 38.0, role.formatted("step"))
                    .event(kind, name(kind, "data_wait"), at + 1, 10.0, role.formatted("data_wait"))
                    .event(kind, name(kind, "compute"), at + 12, 20.0, role.formatted("compute"))
                    .event(kind, name(kind, "collective"), at + 15, 5.0, role.formatted("collective"))
                    .event(kind, name(kind, "optimizer"), at + 33, 4.0, role.formatted("optimizer"));
        }
        return fixture;
    }

    private static String name(String kind, String role) {
        return kind.equals("region") ? "zernel." + role + "#mine" : "my_" + role;
    }

    @Test
    void aJobWithRolesOnlyHasStepsAndPhases() {
        assertThat(query(job(30, "call"), STEPS.formatted("IN (2, 30)"))).isEqualTo("""
                step	at	ms	data	compute	collective	optimizer	unknown	source	step_kind
                2	40	40	10	15	5	4	6	role of my_step	train
                30	1160	38	10	15	5	4	4	role of my_step	train""");
    }

    @Test
    void callsOfPythonHaveRolesToo() {
        assertThat(query(job(30, "py_call"), STEPS.formatted("= 2")))
                .endsWith("2\t40\t40\t10\t15\t5\t4\t6\trole of my_step\ttrain");
    }

    @Test
    void aRegionHasTheRoleOfItsName() {
        assertThat(query(job(30, "region"), STEPS.formatted("= 2")))
                .endsWith("2\t40\t40\t10\t15\t5\t4\t6\trole of zernel.step#mine\ttrain");
    }

    @Test
    void aRegionOfAnotherNameHasNoRole() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 10; i++) {
            fixture.region("zernel.stepping", 10 * i, 5).region("step", 10 * i, 5).region("zernel.nothing", 10 * i, 5);
        }
        assertThat(query(fixture, "SELECT count(*) AS n FROM _role_calls")).isEqualTo("n\n0");
        assertThat(query(fixture, "SELECT count(*) AS n FROM steps")).isEqualTo("n\n0");
    }

    @Test
    void callsWithoutARoleAreNone() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 10; i++) {
            fixture.event("call", "step", 10.0 * i, 5.0, "");
        }
        assertThat(query(fixture, "SELECT count(*) AS n FROM training_threads")).isEqualTo("n\n0");
    }

    @Test
    void theRoleStepComesBeforeOtherMarkers() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            double at = 60.0 * i;
            call(fixture, "step", "my_step", at, 58);
            fixture.region(NEXT, at + 1, 5).backward(at + 10, 10).region(STEP, at + 22, 4);
            fixture.region(NEXT, at + 30, 5).backward(at + 40, 10).region(STEP, at + 52, 4);
        }
        assertThat(query(fixture, "SELECT count(*) AS n, any_value(source) AS source, max(batches) AS batches FROM steps"))
                .isEqualTo("n\tsource\tbatches\n20\trole of my_step\t2");
        assertThat(query(fixture, "SELECT part, total_ns // 1000000 AS ms FROM phase_parts ORDER BY part"))
                .isEqualTo("part\tms\nbackward\t400\ndata_wait\t200\nforward\t180\noptimizer_step\t160\nunknown\t258");
    }

    @Test
    void withoutARoleStepTheOptimizerEndsSteps() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            call(fixture, "data_wait", "fetch", 30.0 * i, 10);
            call(fixture, "optimizer", "update", 30.0 * i + 20, 8);
        }
        assertThat(query(fixture, "SELECT count(*) AS n, any_value(source) AS source, median(dur_ns) / 1e6 AS ms FROM steps"))
                .isEqualTo("n\tsource\tms\n20\tOptimizer.step\t30.0");
    }

    @Test
    void threadsThatOnlyFetchAreNoTrainingThreadsBesideOneThatSteps() {
        RecordingFixture fixture = job(20, "call");
        fixture.on(100, 101, "prefetch");
        for (int i = 0; i < 100; i++) {
            call(fixture, "data_wait", "prefetch", 7.0 * i, 5);
        }
        assertThat(query(fixture, "SELECT tid, steps FROM training_threads")).isEqualTo("tid\tsteps\n100\t20");
    }

    @Test
    void momentsWithTheRoleStepBeginSteps() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.event("call", "app:step", 25.0 * i, null, "role = 'step'");
        }
        assertThat(query(fixture, "SELECT count(*) AS n, median(dur_ns) / 1e6 AS ms FROM steps")).isEqualTo("n\tms\n10\t25.0");
    }

    @Test
    void aFunctionThatWaitsForDataIsNamed() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 30; i++) {
            double at = 40.0 * i;
            call(fixture, "step", "my_step", at, 40);
            call(fixture, "data_wait", "next_batch", at, 25);
            fixture.event("sched", "off-cpu", at + 1, 20.0, "state = 'sleeping', runq_ns = 0");
            call(fixture, "compute", "forward", at + 25, 14);
        }
        Finding finding = findings(fixture).getFirst();
        assertThat(finding.name()).isEqualTo("data_bound");
        assertThat(finding.maxSpeedup()).isEqualTo(2.67);
        assertThat(finding.evidence()).contains(
                "25.0 ms waiting of 40.0 ms; all in next_batch, which is asleep or blocked for 80 % of it");
        assertThat(finding.advice())
                .isEqualTo("fetch the next batch in a thread or process of its own while this one computes; "
                        + "or make next_batch wait for several at once");
    }

    @Test
    void aCheckpointIsAStepOfItsOwnKind() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 0; i < 60; i++) {
            call(fixture, "step", "my_step", at, 20);
            call(fixture, "compute", "forward", at, 19);
            at += 20;
            if (i % 20 == 19) {
                call(fixture, "checkpoint", "save", at, 100);
                at += 100;
            }
        }
        call(fixture, "step", "my_step", at, 20);
        assertThat(query(fixture, "SELECT step, dur_ns // 1000000 AS ms FROM steps WHERE step_kind = 'checkpoint' ORDER BY 1"))
                .isEqualTo("step\tms\n20\t120\n40\t120\n60\t120");
        Finding finding = findings(fixture).getFirst();
        assertThat(finding.name()).isEqualTo("checkpoint_stall");
        assertThat(finding.evidence()).contains("each takes 100.0 ms more than the median of 20.0 ms", "; call of save; ");
    }

    @Test
    void aSlowOptimizerIsFound() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 30; i++) {
            double at = 20.0 * i;
            call(fixture, "step", "my_step", at, 20);
            call(fixture, "optimizer", "update", at + 8, 12);
        }
        assertThat(findings(fixture)).extracting(Finding::name).contains("slow_optimizer");
    }
}
