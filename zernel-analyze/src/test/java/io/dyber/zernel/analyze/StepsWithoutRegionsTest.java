package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs of shapes that real ones have and that announce nothing: which steps they have, and which have none.
class StepsWithoutRegionsTest {
    private static final String FOUND =
            "SELECT tid, step_source, steps, round(step_p50_ns / 1e6) AS ms, purpose FROM training_threads ORDER BY pid";
    private static final String REQUESTS =
            "SELECT requests, steps_p50, round(p50_ns / 1e6) AS p50, round(first_step_p50_ns / 1e6) AS first FROM request_times";
    private static final String WATCHED = "[{\"kind\":\"backward\",\"state\":\"attached\",\"why\":null,\"events\":0}]";

    @TempDir
    Path folder;

    private final RecordingFixture fixture = recording().footer("zernel.kinds", WATCHED);
    private final Random random = new Random(11);
    private double now;

    @Test
    void aThreadThatAutotunesHasNoSteps() {
        for (int tid = 201; tid <= 206; tid++) { // six threads autotune for 20 ms each, and repeat evenly in it
            fixture.on(100, tid, "compile");
            for (int group = 0; group < 20; group++) {
                for (int call = 0; call < 10; call++) {
                    fixture.launch("candidate" + group, now + call * 0.08, 0.01);
                }
                fixture.event("cuda_sync", "cuEventSynchronize", now + 0.85, 0.05, "status = 0, depth = 0");
                now += 1;
            }
            now += 150;
        }
        fixture.on(100, 100, "python3");
        for (int step = 0; step < 60; step++) {
            graph(77, step % 10 == 9 ? 1 : 0.1);
            now += 4 + random.nextDouble();
        }
        assertThat(query(FOUND)).isEqualTo(
                "tid\tstep_source\tsteps\tms\tpurpose\n100\tperiodicity of cudaGraphLaunch\t60\t4.0\tunknown");
    }

    @Test
    void generationHasATokenAStepAndARequestFromPromptToPrompt() {
        generate(9, 40);
        assertThat(query(FOUND)).isEqualTo(
                "tid\tstep_source\tsteps\tms\tpurpose\n100\tperiodicity of argmax\t360\t10.0\tinference");
        assertThat(query(REQUESTS)).isEqualTo("requests\tsteps_p50\tp50\tfirst\n9\t40.0\t430.0\t40.0");
        assertThat(query("SELECT phase FROM phases WHERE total_ns > 0 AND phase = 'OptimizerStep'")).isEqualTo("phase");
    }

    @Test
    void requestsOfDifferentLengthsAreToldByTheirPrompts() {
        fixture.torchAlloc(0, 64);
        for (int tokens : new int[] {20, 7, 64, 33, 12, 90, 5, 41}) {
            prompt();
            for (int token = 1; token < tokens; token++) {
                decode(9 + 2 * random.nextDouble());
            }
            now += 500 * random.nextDouble(); // until the next request comes
        }
        assertThat(query("SELECT steps FROM training_threads")).isEqualTo("steps\n272");
        assertThat(query("SELECT list(steps ORDER BY request) AS tokens FROM requests"))
                .isEqualTo("tokens\n[20, 7, 64, 33, 12, 90, 5, 41]");
    }

    @Test
    void anEngineThatReplaysAGraphForEachBatchSizeHasOneStepAReplay() {
        fixture.torchAlloc(0, 64);
        for (int step = 0; step < 200; step++) {
            fixture.copy("HtoD", "pinned", now, 0.02, 64 + random.nextInt(8) * 8);
            now += 0.1;
            graph(1000 + random.nextInt(6), 0.2);
            for (String sampler : new String[] {"penalties", "softmax", "top_k", "top_p", "argmax"}) {
                now += 0.1;
                fixture.launch("void at::native::" + sampler, now, 0.01);
            }
            fixture.copy("DtoH", "pinned", now + 0.1, 0.02, 256).sync(now + 0.2, 5);
            now += 6 + (random.nextInt(10) == 0 ? 20 * random.nextDouble() : 0); // waits for requests
        }
        assertThat(query(FOUND)).isEqualTo(
                "tid\tstep_source\tsteps\tms\tpurpose\n100\tperiodicity of cudaGraphLaunch\t200\t7.0\tinference");
    }

    @Test
    void anEngineWithAGraphForEachLayerHasNotAStepALayer() {
        fixture.torchAlloc(0, 64);
        for (int step = 0; step < 60; step++) {
            for (int layer = 0; layer < 12; layer++) {
                graph(1000 + layer, 0.1);
                now += 0.3;
                fixture.launch("attention", now, 0.01);
                now += 0.3;
            }
            for (String sampler : new String[] {"norm", "head", "softmax", "argmax"}) {
                now += 0.2;
                fixture.launch("void at::native::" + sampler, now, 0.01);
            }
            fixture.copy("DtoH", "pinned", now + 0.1, 0.5, 256);
            now += 1;
        }
        assertThat(query("SELECT steps, purpose FROM training_threads")).isEqualTo("steps\tpurpose\n60\tinference");
    }

    @Test
    void stepsAreFoundAfterAWarmUpOfManyMoreCalls() {
        for (int kernel = 0; kernel < 30; kernel++) { // autotunes: each candidate a hundred times
            for (int call = 0; call < 100; call++) {
                fixture.launch("candidate" + kernel, now, 0.01).launch("flush", now + 0.1, 0.01);
                now += 0.3;
            }
            fixture.sync(now, 1);
            now += 2;
        }
        now += 20_000;
        training(60, 1, 0);
        assertThat(query("SELECT steps, round(step_p50_ns / 1e6) AS ms, purpose FROM training_threads"))
                .isEqualTo("steps\tms\tpurpose\n60\t17.0\ttraining");
    }

    @Test
    void evaluationAndLoggingInBetweenAreNoStepsOfTheirOwn() {
        training(80, 1, 20);
        assertThat(query("SELECT steps, round(step_p50_ns / 1e6) AS ms, purpose FROM training_threads"))
                .isEqualTo("steps\tms\tpurpose\n80\t17.0\ttraining");
    }

    @Test
    void batchesWithoutGradientsAreInference() {
        fixture.torchAlloc(0, 64);
        for (int batch = 0; batch < 40; batch++) {
            fixture.copy("HtoD", "pageable", now, 0.5, 602_112);
            for (int layer = 0; layer < 10; layer++) {
                now += 0.5;
                fixture.launch("void at::native::conv" + layer % 4, now, 0.01).launch("relu", now + 0.2, 0.01);
            }
            now += 2;
            if (batch % 10 == 9) {
                fixture.copy("DtoH", "pageable", now, 3, 4);
                now += 3;
            }
        }
        assertThat(query("SELECT steps, purpose FROM training_threads")).isEqualTo("steps\tpurpose\n40\tinference");
        assertThat(query("SELECT count(*) AS requests FROM requests")).isEqualTo("requests\n0");
    }

    @Test
    void aDiffusionHasAStepADenoisingAndARequestAnImage() {
        fixture.torchAlloc(0, 64);
        for (int image = 0; image < 6; image++) {
            for (String text : new String[] {"embed", "encode", "pool", "project"}) {
                fixture.launch("void at::native::text_" + text, now, 0.01);
                now += 1;
            }
            for (int step = 0; step < 25; step++) {
                for (int block = 0; block < 8; block++) {
                    fixture.launch("resnet", now, 0.01).launch("attention", now + 0.5, 0.01);
                    now += 1;
                }
                for (String once : new String[] {"time_embedding", "conv_in", "conv_out", "scheduler"}) {
                    fixture.launch("void at::native::" + once, now, 0.01);
                    now += 0.5;
                }
            }
            for (int block = 0; block < 4; block++) {
                fixture.launch("decode", now, 0.01).launch("upsample", now + 5, 0.01).launch("norm", now + 8, 0.01);
                now += 10;
            }
            fixture.copy("DtoH", "pageable", now, 20, 786_432);
            now += 25;
        }
        assertThat(query("SELECT steps, purpose FROM training_threads")).isEqualTo("steps\tpurpose\n150\tinference");
        assertThat(query("SELECT requests, steps_p50 FROM request_times")).isEqualTo("requests\tsteps_p50\n6\t25.0");
    }

    @Test
    void threadsThatServeSideBySideHaveNoSteps() {
        fixture.torchAlloc(0, 64);
        for (int call = 0; call < 2000; call++) {
            fixture.on(100, 101 + call % 4, "worker");
            fixture.launch("void at::native::layer" + call / 4 % 5, now, 0.01);
            now += 0.25;
        }
        assertThat(query("SELECT count(*) AS steps FROM steps")).isEqualTo("steps\n0");
        assertThat(query("SELECT pid, why FROM processes_without_steps"))
                .isEqualTo("pid\twhy\n100\t4 threads launch, none of them most: tid 101 25 %");
    }

    @Test
    void whatDoesNotRepeatHasNoStepsAndTheReasonIsSaid() {
        for (int call = 0; call < 300; call++) {
            fixture.launch("kernel" + random.nextInt(40), Math.pow(random.nextDouble(), 4) * 5000, 0.1);
        }
        assertThat(query("SELECT count(*) AS steps FROM steps")).isEqualTo("steps\n0");
        assertThat(query("SELECT why FROM processes_without_steps")).startsWith("why\nnothing ");
    }

    @Test
    void stepsThatCaptureOrCompileAreWarmUp() {
        for (int step = 1; step <= 60; step++) {
            double compiles = step == 1 ? 9000 : step == 3 ? 400 : step == 30 ? 700 : 0;
            if (step == 3) {
                fixture.event("cuda_graph", "cudaStreamEndCapture", now + 100, 0.1, "depth = 0, status = 0");
            }
            if (step == 30) {
                fixture.event("io_open", "openat", now + 10, 0.1, "fd = 9, status = 0, path = '/tmp/torchinductor_me/ab/c.py'");
            }
            fixture.region(RecordingFixture.NEXT, now, 2).backward(now + 10 + compiles, 20)
                    .region(RecordingFixture.STEP, now + 32 + compiles, 5);
            now += 40 + compiles + step % 3 * 0.1;
        }
        assertThat(query("SELECT list(step ORDER BY step) AS steps FROM steps WHERE step_kind = 'warmup'"))
                .isEqualTo("steps\n[1, 2, 3, 30]");
        assertThat(query("SELECT warmup_steps, last_warmup_step, round(warmup_ns / 1e9, 1) AS s FROM training_threads"))
                .isEqualTo("warmup_steps\tlast_warmup_step\ts\n4\t30\t10.3");
    }

    @Test
    void aPauseInEachTenthStepIsNoWarmUp() {
        for (int step = 1; step <= 60; step++) {
            fixture.region(RecordingFixture.NEXT, now, 2).backward(now + 10, 10).region(RecordingFixture.STEP, now + 22, 5);
            now += step % 10 == 0 ? 180 : 30;
        }
        assertThat(query("SELECT count(*) AS steps FROM steps WHERE step_kind = 'warmup'")).isEqualTo("steps\n1");
    }

    /// Requests of equal length; each begins 30 ms after the one before.
    private void generate(int requests, int tokens) {
        fixture.torchAlloc(0, 64);
        for (int request = 0; request < requests; request++) {
            prompt();
            for (int token = 1; token < tokens; token++) {
                decode(10);
            }
        }
    }

    private void prompt() {
        fixture.copy("HtoD", "pageable", now, 0.1, 2048 + random.nextInt(100)).launch("mask", now + 1, 0.01);
        for (int layer = 0; layer < 4; layer++) {
            fixture.launch("prompt_gemm", now + 2 + layer, 0.01).launch("prompt_attention", now + 2.5 + layer, 0.01);
        }
        now += 30;
        decode(10);
    }

    /// One token: layers that are all alike, what comes once, and the question whether it was the last one.
    private void decode(double ms) {
        double layer = (ms - 3) / 4;
        fixture.launch("void at::native::embedding", now, 0.01);
        for (int i = 0; i < 4; i++) {
            double at = now + 0.5 + i * layer;
            fixture.launch("norm", at, 0.01).launch("gemm", at + layer * 0.2, 0.01)
                    .launch("attention", at + layer * 0.5, 0.01).launch("gelu", at + layer * 0.7, 0.01);
        }
        fixture.launch("head", now + ms - 2, 0.01).launch("argmax", now + ms - 1.5, 0.01)
                .copy("DtoH", "pinned", now + ms - 1, 0.01, 1).copy("DtoH", "pinned", now + ms - 0.5, 0.01, 1);
        now += ms;
    }

    /// A loop of one's own, with SGD by hand: forward here, backward in a thread of its own.
    private void training(int steps, int microBatches, int evaluatesEach) {
        for (int step = 1; step <= steps; step++) {
            for (int batch = 0; batch < microBatches; batch++) {
                forward();
                fixture.backward(now, 6);
                fixture.on(100, 150, "pt_autograd_0");
                for (int layer = 0; layer < 8; layer++) {
                    fixture.launch("gemm_backward", now + layer * 0.5, 0.01).launch("gelu_backward", now + layer * 0.5 + 0.2, 0.01);
                }
                fixture.on(100, 100, "python3");
                now += 6;
            }
            fixture.launch("sgd_mul", now, 0.01).launch("sgd_add", now + 0.2, 0.01);
            now += 1;
            if (step % 10 == 0) {
                fixture.copy("DtoH", "pageable", now, 1, 4);
                now += 1;
            }
            if (evaluatesEach > 0 && step % evaluatesEach == 0) {
                for (int batch = 0; batch < 15; batch++) {
                    forward();
                }
            }
        }
    }

    private void forward() {
        fixture.copy("HtoD", "pinned", now, 0.1, 4096).launch("embedding", now + 0.5, 0.01);
        for (int layer = 0; layer < 8; layer++) {
            fixture.launch("gemm", now + 1 + layer, 0.01).launch("gelu", now + 1.5 + layer, 0.01);
        }
        fixture.launch("loss", now + 9.5, 0.01);
        now += 10;
    }

    private void graph(int exec, double durMs) {
        fixture.event("cuda_graph", "cudaGraphLaunch", now, durMs, "depth = 0, status = 0, stream = 7, addr = " + exec);
    }

    private String query(String sql) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }
}
