package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Steps that no region marks, and the kinds of steps.
class StepsTest {
    private static final String ROUNDS = "SELECT steps, step_p50_ns // 1000000 AS ms, step_calls FROM training_threads";
    private static final String GAN = "<module> (/job/gan.py:%d);Tensor.backward (/v/lib/python3.11/site-packages/torch/_tensor.py:5);"
            + "_engine_run_backward (/v/lib/python3.11/site-packages/torch/autograd/graph.py:9);gemm (libtorch_cpu.so)";

    private static final String FOUND =
            "SELECT count(*) AS steps, round(median(dur_ns) / 1e6) AS ms, any_value(source) AS source FROM steps";

    @TempDir
    Path folder;

    @Test
    void aTrainingWithoutRegionsHasAStepPerBatchCopiedToTheGpu() {
        RecordingFixture fixture = recording();
        Random random = new Random(7);
        double at = 0;
        for (int step = 0; step < 25; step++) {
            fixture.copy("HtoD", "pinned", at + random.nextDouble(), 0.1, 4096).copy("HtoD", "pinned", at + 1, 0.1, 64);
            layers(fixture, at + 4, 8);
            if (step % 10 == 0) { // logs every ten steps
                fixture.copy("DtoH", "pageable", at + 45, 0.5, 4).sync(at + 46, 0.1);
            }
            at += 50 + 2 * random.nextDouble();
        }
        assertThat(query(fixture, FOUND))
                .isEqualTo("steps\tms\tsource\n25\t51.0\tperiodicity of cudaMemcpyAsync");
        assertThat(query(fixture, "SELECT DISTINCT confidence > 0.8 AS sure FROM steps")).isEqualTo("sure\ntrue");
    }

    @Test
    void aLayerIsNotTakenForAStep() {
        RecordingFixture fixture = recording();
        for (int step = 0; step < 20; step++) {
            layers(fixture, step * 50, 8);
            fixture.launch("loss", step * 50 + 40, 0.01).launch("optimizer", step * 50 + 42, 0.01);
        }
        assertThat(query(fixture, FOUND)).startsWith("steps\tms\tsource\n20\t50.0\tperiodicity of ");
    }

    @Test
    void aReplayedGraphIsAStep() {
        RecordingFixture fixture = recording();
        for (int step = 0; step < 30; step++) {
            fixture.event("cuda_graph", "cudaGraphLaunch", step * 8.0, 0.2, "depth = 0, status = 0, addr = 77, stream = 7");
        }
        assertThat(query(fixture, FOUND)).isEqualTo("steps\tms\tsource\n30\t8.0\tperiodicity of cudaGraphLaunch");
    }

    @Test
    void aBackwardPassThatTellsStepsIsBackward() {
        RecordingFixture fixture = recording();
        for (int step = 0; step < 30; step++) {
            fixture.launch("forward", step * 50, 0.01).backward(step * 50 + 10, 30);
        }
        assertThat(query(fixture, FOUND)).isEqualTo("steps\tms\tsource\n30\t50.0\tperiodicity of Engine::execute");
        assertThat(query(fixture, "SELECT part, total_ns FROM phase_parts ORDER BY part"))
                .isEqualTo("part\ttotal_ns\nbackward\t900000000\nunknown\t580000000");
    }

    @Test
    void whatDoesNotRepeatEvenlyHasNoSteps() {
        RecordingFixture fixture = recording();
        Random random = new Random(3);
        for (int call = 0; call < 60; call++) {
            fixture.copy("HtoD", "pinned", Math.pow(random.nextDouble(), 4) * 5000, 0.1, 4096);
        }
        assertThat(query(fixture, FOUND)).isEqualTo("steps\tms\tsource\n0\tnull\tnull");
    }

    @Test
    void aProcessWithRegionsKeepsThem() {
        RecordingFixture fixture = recording().training(12, 15);
        for (int copy = 0; copy < 48; copy++) {
            fixture.copy("HtoD", "pinned", copy * 12.5, 0.1, 4096);
        }
        assertThat(query(fixture, FOUND)).isEqualTo("steps\tms\tsource\n12\t50.0\tOptimizer.step");
    }

    @Test
    void warmUpEvaluationAndCheckpointsAreToldApart() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int step = 1; step <= 30; step++) {
            if (step == 20) { // an evaluation of four batches before it
                for (int batch = 0; batch < 4; batch++) {
                    fixture.region(NEXT, at, 2);
                    at += 10;
                }
            }
            if (step == 25) {
                fixture.event("io_open", "openat", at, 0.1, "fd = 9, status = 0, path = '/out/step25.pt'");
                at += 200;
            }
            double slow = step <= 3 ? 100 : 0; // compiles
            fixture.region(NEXT, at, 5).backward(at + 10 + slow, 20).region(STEP, at + 32 + slow, 5);
            at += 40 + slow + step % 3 * 0.1;
        }
        assertThat(query(fixture, """
                SELECT step_kind, count(*) AS steps, min(step) AS first, max(step) AS last
                FROM steps
                GROUP BY ALL
                ORDER BY first
                """)).isEqualTo("""
                step_kind	steps	first	last
                warmup	3	1	3
                train	25	4	30
                evaluation	1	20	20
                checkpoint	1	25	25""");
        assertThat(query(fixture, "SELECT steps, steady_steps, step_p50_ns // 1000000 AS ms FROM training_threads"))
                .isEqualTo("steps\tsteady_steps\tms\n30\t25\t40");
    }

    @Test
    void gradientAccumulationIsNoEvaluation() {
        RecordingFixture fixture = recording();
        for (int step = 0; step < 20; step++) {
            for (int batch = 0; batch < 4; batch++) {
                fixture.region(NEXT, step * 100 + batch * 20, 5).backward(step * 100 + batch * 20 + 10, 5);
            }
            fixture.region(STEP, step * 100 + 90, 5);
        }
        assertThat(query(fixture, "SELECT step_kind, count(*) AS n, min(batches) AS batches FROM steps GROUP BY ALL ORDER BY n"))
                .isEqualTo("step_kind\tn\tbatches\nwarmup\t1\t4\ntrain\t19\t4");
    }

    @Test
    void aBatchThatIsFetchedOnceBeforeTheLoopMakesNoSingleStep() {
        RecordingFixture fixture = recording().region(NEXT, 0, 5);
        for (int step = 0; step < 30; step++) {
            fixture.backward(step * 50 + 20, 20).region(STEP, step * 50 + 45, 5);
        }
        assertThat(query(fixture, FOUND)).isEqualTo("steps\tms\tsource\n30\t50.0\tOptimizer.step");
        // Before a backward pass is all the loop does, not only the forward pass.
        assertThat(query(fixture, "SELECT part, total_ns // 1000000 AS ms FROM phase_parts ORDER BY part"))
                .isEqualTo("part\tms\nbackward\t600\ndata_wait\t5\noptimizer_step\t150\nunknown\t745");
    }

    @Test
    void aLoaderOfEvaluationDataAloneEndsNoTrainingSteps() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int round = 0; round < 3; round++) {
            for (int step = 0; step < 100; step++) { // data from elsewhere
                fixture.backward(at + 10, 15).region(STEP, at + 25, 5);
                at += 30;
            }
            for (int batch = 0; batch < 10; batch++) {
                fixture.region(NEXT, at, 5);
                at += 20;
            }
            fixture.region(NEXT, at, 1); // no more batches
            at += 1;
        }
        assertThat(query(fixture, "SELECT step_kind, count(*) AS steps, max(dur_ns) // 1000000 AS ms FROM steps GROUP BY ALL ORDER BY steps"))
                .isEqualTo("step_kind\tsteps\tms\nwarmup\t1\t20\nevaluation\t2\t231\ntrain\t297\t30");
        assertThat(query(fixture, "SELECT evaluations, total_ns // 1000000 AS ms, step_ns / 1e6 AS step FROM evaluations"))
                .isEqualTo("evaluations\tms\tstep\n3\t603\t30.0");
        assertThat(query(fixture, "SELECT DISTINCT part FROM phase_parts ORDER BY part"))
                .isEqualTo("part\nbackward\ndata_wait\nevaluation\noptimizer_step\nunknown");
    }

    @Test
    void severalOptimizersOrManyForABatchAreOneStep() {
        RecordingFixture gan = recording();
        RecordingFixture fused = recording();
        for (int step = 0; step < 20; step++) {
            gan.region(NEXT, step * 100, 5);
            fused.region(NEXT, step * 100, 5).backward(step * 100 + 20, 75);
            for (int part = 0; part < 3; part++) {
                gan.backward(step * 100 + 10 + part * 30, 20).region(STEP, step * 100 + 30 + part * 30, 5);
            }
            for (int parameter = 0; parameter < 25; parameter++) { // each has an optimizer, which its gradient calls
                fused.region(STEP, step * 100 + 22 + parameter * 2, 1);
            }
        }
        assertThat(query(gan, FOUND)).isEqualTo("steps\tms\tsource\n20\t100.0\tOptimizer.step");
        assertThat(query(fused, FOUND)).isEqualTo("steps\tms\tsource\n20\t100.0\tOptimizer.step");
    }

    @Test
    void optimizersThatTakeTurnsWithoutALoaderAreOneStepARound() {
        RecordingFixture named = recording();
        RecordingFixture lines = recording();
        RecordingFixture unequal = recording();
        for (int step = 0; step < 60; step++) {
            double at = step * 100;
            named.backward(at + 5, 40).region("Optimizer.step#SGD.step", at + 45, 5)
                    .backward(at + 60, 30).region(STEP, at + 95, 5);
            lines.backward(at + 5, 40).region(STEP, at + 45, 5).backward(at + 60, 30).region(STEP, at + 95, 5);
            if (step % 5 == 0) { // few passes are sampled
                lines.sample(at + 20, GAN.formatted(9));
            } else if (step % 5 == 1) {
                lines.sample(at + 70, GAN.formatted(10));
            }
            for (int turn = 0; turn < 6; turn++) {
                unequal.backward(at + turn * 16 + 2, 8).sample(at + turn * 16 + 5, GAN.formatted(turn < 5 ? 20 : 24))
                        .region(STEP, at + turn * 16 + 12, 4);
            }
        }
        assertThat(query(named, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n60\t100\trounds of 2 calls: SGD, AdamW");
        assertThat(query(lines, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n60\t100\trounds of 2 calls: gan.py:9, gan.py:10");
        assertThat(query(unequal, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n60\t100\trounds of 6 calls: gan.py:20, gan.py:24");
    }

    @Test
    void aDiscriminatorThatIsTrainedAloneFirstChangesNoRound() {
        RecordingFixture gan = recording();
        for (int step = 0; step < 100; step++) {
            gan.backward(step * 50 + 5, 40).region("Optimizer.step#SGD.step", step * 50 + 45, 5);
        }
        for (int step = 100; step < 200; step++) {
            gan.backward(step * 50 + 5, 40).region(step % 2 == 0 ? "Optimizer.step#SGD.step" : STEP, step * 50 + 45, 5);
        }
        assertThat(query(gan, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n50\t100\trounds of 2 calls: SGD, AdamW");
    }

    @Test
    void severalOptimizersAfterABackwardPassAreOneStep() {
        RecordingFixture muon = recording();
        RecordingFixture fused = recording();
        for (int step = 0; step < 20; step++) {
            muon.backward(step * 100 + 20, 60).region("Optimizer.step#Muon.step", step * 100 + 80, 10)
                    .region(STEP, step * 100 + 90, 10);
            fused.backward(step * 100 + 20, 79);
            for (int parameter = 0; parameter < 25; parameter++) { // in hooks of gradients
                fused.region(STEP, step * 100 + 22 + parameter * 3, 1);
            }
        }
        assertThat(query(muon, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n20\t100\t2 calls after each backward pass");
        assertThat(query(fused, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n20\t100\t25 calls after each backward pass");
    }

    @Test
    void whatIsNoFixedPatternOfOptimizersStaysAStepEach() {
        RecordingFixture accumulating = recording();
        RecordingFixture regularized = recording();
        RecordingFixture rare = recording();
        for (int step = 0; step < 100; step++) {
            double at = step * 100;
            for (int pass = 0; pass < 4; pass++) { // the losses of two lines
                accumulating.backward(at + pass * 20 + 5, 14).sample(at + pass * 20 + 10, GAN.formatted(pass % 2 == 0 ? 3 : 4));
            }
            accumulating.region(STEP, at + 95, 5);
            regularized.backward(at + 20, 60).sample(at + 50, GAN.formatted(step % 3 == 0 || step % 7 == 0 ? 30 : 32))
                    .region(STEP, at + 95, 5);
            rare.backward(at + 20, 60).region(step % 40 == 39 ? "Optimizer.step#SGD.step" : STEP, at + 95, 5);
        }
        assertThat(query(accumulating, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n100\t100\tnull");
        assertThat(query(regularized, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n100\t100\t"
                + "each call counts, after backward passes of 2 lines in no fixed order");
        assertThat(query(rare, ROUNDS)).isEqualTo("steps\tms\tstep_calls\n100\t100\tnull");
    }

    @Test
    void whatIsAskedOfStepsOfHoursTakesNoMoreMemoryThanOfShortOnes() {
        RecordingFixture fixture = recording();
        double hour = 3_600_000;
        for (int step = 0; step < 12; step++) {
            fixture.region(NEXT, step * hour, 5).launch("gemm", step * hour + 10, 1).region(STEP, step * hour + hour - 5, 5);
        }
        assertThat(query(fixture, "SELECT count(*) AS steps, sum(launches) AS launches FROM step_work"))
                .isEqualTo("steps\tlaunches\n12\t12");
        // Of 2^40 ns, 18 minutes: each step has a part of five at most.
        assertThat(query(fixture, """
                        SELECT bits, sum((until_ns >> bits) - (from_ns >> bits) + 1) <= 60 AS few
                        FROM _step_spans
                        CROSS JOIN (SELECT bucket_bits(min(until_ns - from_ns), 22) AS bits FROM _step_spans)
                        GROUP BY bits
                        """))
                .isEqualTo("bits\tfew\n40\ttrue");
    }

    /// A forward pass of equal layers, 2.5 ms each.
    private static void layers(RecordingFixture fixture, double at, int count) {
        for (int layer = 0; layer < count; layer++) {
            fixture.launch("gemm", at + layer * 2.5, 0.01).launch("gelu", at + layer * 2.5 + 1, 0.01);
        }
    }

    private String query(RecordingFixture fixture, String sql) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }
}
