package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is said of jobs that call many small operators.
class SmallOperatorsTest {
    private static final String ON_CPU = "[{\"kind\":\"cuda_launch\",\"state\":\"waiting\"}]";
    private static final String LOSS = "<module> (/me/train.py:30);pair_loss (/me/train.py:12)";
    private static final String BACKWARD = "<module> (/me/train.py:31);Tensor.backward (/v/site-packages/torch/_tensor.py:1)";
    private static final String DISPATCH = ";c10::Dispatcher::call (libtorch_cpu.so)";
    private static final String KERNEL = ";mkl_blas_def_sgemm_kernel_zen (libtorch_cpu.so)";

    @TempDir
    Path folder;

    @Test
    void smallOperatorsFiresForATrainingThatIsAroundThemHalfOfTheTime() {
        Finding finding = run(training(1, LOSS + DISPATCH, LOSS + KERNEL, BACKWARD + DISPATCH, BACKWARD + KERNEL)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(30.823);
        assertThat(finding.maxSpeedup()).isNull();
        assertThat(finding.evidence()).isEqualTo("mean of 19 steps: 80.0 ms on the CPU of 80.0 ms; 38 of 76 samples are in what surrounds "
                + "operators of forward and backward passes (dispatch, autograd, memory, the interpreter), 30.8 ms to 49.2 ms");
        assertThat(finding.lines()).singleElement().satisfies(line -> assertThat(line.text())
                .isEqualTo("100 % of that in forward passes: train.py:12 pair_loss -> c10::Dispatcher::call"));
    }

    /// Memory that nothing says to be of an operator, and loops of the program itself, are none of theirs.
    @Test
    void smallOperatorsIsSilentForLargeOnesForOtherWorkAndForShortSteps() {
        assertThat(run(training(1, LOSS + DISPATCH, LOSS + KERNEL, BACKWARD + KERNEL, BACKWARD + KERNEL))).isEmpty();
        assertThat(run(training(1, LOSS + ";malloc (libc.so.6)", LOSS, BACKWARD + DISPATCH, BACKWARD + KERNEL))).isEmpty();
        assertThat(run(training(0.02, LOSS + DISPATCH, LOSS + DISPATCH, BACKWARD + DISPATCH, BACKWARD + DISPATCH))).isEmpty();
    }

    /// Code that is made while it runs has no name: its stacks end in Python.
    @Test
    void smallOperatorsIsSilentForConvolutionsWhoseCodeIsMadeWhileTheyRun() {
        String torch = " (/v/site-packages/torch/nn/modules/conv.py:560)";
        String engine = BACKWARD + ";_engine_run_backward (/v/site-packages/torch/autograd/graph.py:1113)";
        assertThat(run(training(1, LOSS + ";Conv2d._conv_forward" + torch, LOSS + KERNEL, engine, BACKWARD + KERNEL))).isEmpty();
        assertThat(run(training(1, LOSS + ";Conv2d.forward" + torch, LOSS + KERNEL, engine.replace("_engine_run_", ""), BACKWARD + KERNEL))).hasSize(1);
    }

    /// As the C library without its symbols: it may copy for an operator, or find memory for the next one.
    @Test
    void smallOperatorsFiresByTheShareOfWhatHasAName() {
        Finding finding = run(training(1, LOSS + DISPATCH, LOSS + ";[libc.so.6]", BACKWARD + ";[libc.so.6]", BACKWARD + KERNEL)).getFirst();
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence()).contains("; 19 of 76 samples are in what surrounds ").endsWith("; 38 more in code that has no name");
        assertThat(run(training(1, LOSS + DISPATCH, LOSS + KERNEL, BACKWARD + KERNEL, BACKWARD + KERNEL))).isEmpty();
    }

    @Test
    void smallOperatorsIsSilentForAJobOnAGpu() {
        RecordingFixture fixture = training(1, LOSS + DISPATCH, LOSS + DISPATCH, BACKWARD + DISPATCH, BACKWARD + DISPATCH);
        assertThat(run(fixture.event("cuda_launch", "cuLaunchKernel", 500, 0.01, ""))).isEmpty();
    }

    @Test
    void smallOperatorsFiresForAProgramWithoutSteps() {
        Finding finding = run(answering("<module> (/me/sim.py:9);pull (/me/sim.py:4)" + DISPATCH)).getFirst();
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence()).isEqualTo("2.00 s on a CPU of the thread that computes; 50 of 100 samples are in what surrounds "
                + "operators of PyTorch: dispatch, memory, the interpreter");
        assertThat(finding.lines()).singleElement().satisfies(line -> assertThat(line.place()).isEqualTo("sim.py:4 pull -> c10::Dispatcher::call"));
    }

    /// Of tensors as text another finding says what is faster.
    @Test
    void smallOperatorsIsSilentForImportsAndForCallsWithAFasterWay() {
        assertThat(run(answering("<module> (/me/sim.py:1);_find_and_load (<frozen importlib._bootstrap>:1)" + DISPATCH))).isEmpty();
        assertThat(run(answering("watch (/me/sim.py:7);_str (/v/site-packages/torch/_tensor_str.py:1)" + DISPATCH))).isEmpty();
    }

    /// Twenty steps, of 80 ms if not shorter, in each of which four samples find these stacks.
    private static RecordingFixture training(double scale, String... stacks) {
        RecordingFixture fixture = recording().footer("zernel.kinds", ON_CPU);
        for (int i = 0; i < 20; i++) {
            double at = i * 80 * scale;
            fixture.region(NEXT, at, scale).backward(at + 40 * scale, 39 * scale).region(STEP, at + 79 * scale, scale);
            for (int sample = 0; sample < stacks.length; sample++) {
                fixture.sample(at + (10 + sample * 20) * scale, stacks[sample]);
            }
        }
        return fixture;
    }

    /// A hundred samples of a program without steps, of which every second is in this stack.
    private static RecordingFixture answering(String stack) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 20, i % 2 == 0 ? stack : "<module> (/me/sim.py:9)" + KERNEL);
        }
        return fixture;
    }

    private List<Finding> run(RecordingFixture fixture) {
        return fixture.findings("small_operators", folder);
    }
}
