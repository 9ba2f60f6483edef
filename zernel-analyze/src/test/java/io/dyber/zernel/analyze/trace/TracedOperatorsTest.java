package io.dyber.zernel.analyze.trace;

import static io.dyber.zernel.analyze.TraceFixture.trace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What traces of jobs on CPUs tell of operators, and of Python between and inside them.
public class TracedOperatorsTest {
    @TempDir
    Path folder;

    private Database open(TraceFixture trace) {
        return Recordings.open(trace.write(folder.resolve("trace.json")).toString());
    }

    /// Steps of 20 ms on CPUs: an operator of 8 ms, then `reads` reads of 10 us, every 100 us, in a function.
    private static TraceFixture reading(int reads) {
        TraceFixture trace = trace(100).function("train.py(1): <module>", 100, 0, 120);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::mm", 100, at, 8);
            trace.function("train.py(30): accuracy", 100, at + 9, 0.1 * Math.max(reads, 1));
            for (int read = 0; read < reads; read++) {
                trace.operator("aten::item", 100, at + 9.04 + 0.1 * read, 0.01);
                trace.operator("aten::_local_scalar_dense", 100, at + 9.041 + 0.1 * read, 0.008);
            }
            trace.operator("aten::sum", 100, at + 19.8, 0.2);
        }
        return trace;
    }

    @Test
    void betweenOperatorsFiresForReadsOfTensorsInALoopOnACpu() {
        try (Database database = open(reading(80))) {
            Finding finding = database.diagnose("between_operators").getFirst();
            // From 8 to 19.8 ms but for 80 operators of 10 us; these are read, too.
            assertThat(finding.lostMillisPerStep()).isEqualTo(11.8);
            assertThat(finding.evidence()).startsWith("mean of 6 steps: 11.0 ms of 20.0 ms between operators of PyTorch, of "
                    + "which a step has 82; 80 of them read a tensor into Python, most by aten::item: 800 us in these and "
                    + "11.0 ms right before and after them, 8.0 ms of it in train.py(30): accuracy; ");
            assertThat(finding.advice()).startsWith("compute with operators on whole tensors and read the result once");
        }
    }

    @Test
    void betweenOperatorsFiresForPythonBetweenThemAndNamesTheFunction() {
        TraceFixture trace = reading(0);
        for (int i = 0; i < 6; i++) {
            trace.function("train.py(50): log_all", 100, i * 20 + 10, 9);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("between_operators").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(11.8);
            assertThat(finding.evidence()).startsWith("mean of 6 steps: 11.8 ms of 20.0 ms between operators of PyTorch, of "
                    + "which a step has 2; 9.0 ms of it in train.py(50): log_all; with the profiler on");
        }
    }

    @Test
    void betweenOperatorsIsSilentForAFewReadsAndForWhatRunsOnAGpu() {
        TraceFixture few = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            few.range("ProfilerStep#" + i, 100, at, 20).operator("aten::mm", 100, at, 19.1)
                    .operator("aten::item", 100, at + 19.4, 0.1);
        }
        try (Database database = open(few)) {
            assertThat(database.diagnose("between_operators")).isEmpty();
        }
        try (Database database = open(reading(80).kernel("gemm", 7, 1, 1, 2))) {
            assertThat(database.diagnose("between_operators")).isEmpty();
        }
    }

    @Test
    void betweenOperatorsFiresAndNamesTheRangeOfTheProgram() {
        TraceFixture trace = reading(0);
        for (int i = 0; i < 6; i++) {
            trace.range("log", 100, i * 20 + 10, 9).range("Optimizer.zero_grad#SGD.zero_grad", 100, i * 20 + 19.5, 0.1);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("between_operators").getFirst();
            assertThat(finding.evidence()).contains("; 9.0 ms of it in the range log; ");
            assertThat(finding.advice()).startsWith("make it cheaper");
        }
    }

    /// Steps of 20 ms, of which so many operators take `millis` each, most of that in one that they call.
    private static TraceFixture cells(int operators, double millis) {
        TraceFixture trace = trace(100).function("train.py(1): <module>", 100, 0, 120);
        for (int i = 0; i < 6; i++) {
            trace.range("ProfilerStep#" + i, 100, i * 20, 20).function("net.py(16): forward", 100, i * 20, 19.9);
            for (int cell = 0; cell < operators; cell++) {
                double at = i * 20 + cell * 19.8 / operators;
                trace.operator("aten::lstm_cell", 100, at, millis).operator("aten::mm", 100, at + 0.002, millis - 0.004);
            }
        }
        return trace;
    }

    @Test
    void smallOperatorsFiresForATraceOfManyThatTakeLittle() {
        try (Database database = open(cells(600, 0.014))) {
            Finding finding = database.diagnose("small_operators").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(8.4, within(0.01));
            assertThat(finding.maxSpeedup()).isNull();
            assertThat(finding.severity()).isEqualTo("high");
            assertThat(finding.evidence()).endsWith(" less than 20 us apart; a step has 1,200 operators; of those that no other calls, "
                    + "600 are aten::lstm_cell in net.py(16): forward; with the profiler on, without which it is less");
            assertThat(finding.advice()).startsWith("nn.LSTM, nn.GRU or nn.RNN, given whole sequences, ");
        }
    }

    @Test
    void smallOperatorsIsSilentForATraceOfFewAndOfLargeOnes() {
        try (Database database = open(cells(400, 0.014))) {
            assertThat(database.diagnose("small_operators")).isEmpty();
        }
        try (Database database = open(cells(600, 0.03))) {
            assertThat(database.diagnose("small_operators")).isEmpty();
        }
        try (Database database = open(cells(600, 0.014).kernel("gemm", 7, 1, 1, 2))) {
            assertThat(database.diagnose("small_operators")).isEmpty();
        }
    }

    /// Steps of 20 ms: a forward pass, a backward pass and the optimizer, and `after` it so much of a second forward pass.
    private static TraceFixture measuring(double after) {
        TraceFixture trace = trace(100).function("train.py(1): <module>", 100, 0, 120);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::conv2d", 100, at, 4);
            trace.operator("autograd::engine::evaluate_function: ConvolutionBackward0", 100, at + 5, 6);
            trace.range("Optimizer.step#SGD.step", 100, at + 12, 1).operator("aten::add_", 100, at + 12.1, 0.8);
            trace.function("train.py(30): accuracy", 100, at + 14, after).operator("aten::conv2d", 100, at + 14, after);
        }
        return trace;
    }

    @Test
    void afterOptimizerFiresForASecondForwardPass() {
        try (Database database = open(measuring(5))) {
            Finding finding = database.diagnose("after_optimizer").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(5.0);
            assertThat(finding.maxSpeedup()).isEqualTo(1.33);
            assertThat(finding.severity()).isEqualTo("high");
            assertThat(finding.evidence()).startsWith("mean of 6 steps: 5.0 ms of 20.0 ms in operators after the optimizer, 5.0 ms of it in "
                    + "aten::conv2d; most in train.py(30): accuracy; the forward pass takes 4.0 ms before it; ");
        }
    }

    @Test
    void afterOptimizerIsSilentForLittleAndWhereTheNextForwardPassIsThere() {
        try (Database database = open(measuring(0.5))) {
            assertThat(database.diagnose("after_optimizer")).isEmpty();
        }
        TraceFixture shifted = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            shifted.range("ProfilerStep#" + i, 100, at, 20).operator("autograd::engine::evaluate_function: ConvolutionBackward0", 100, at, 6);
            shifted.range("Optimizer.step#SGD.step", 100, at + 7, 1).operator("aten::conv2d", 100, at + 10, 8);
        }
        try (Database database = open(shifted)) {
            assertThat(database.diagnose("after_optimizer")).isEmpty();
        }
    }

    /// A range of the program holds Python, too, so operators are what computes where no GPU does.
    @Test
    void operatorsOfATraceWithoutAGpuAreComputeAndRangesOfTheProgramAreNot() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).range("preprocess", 100, at, 10).operator("aten::mul", 100, at + 8, 2);
            trace.operator("aten::linear", 100, at + 10.01, 2.99).operator("aten::mm", 100, at + 11, 1); // as good as beside the one before
            trace.range("Optimizer.step#SGD.step", 100, at + 16, 3).operator("aten::add_", 100, at + 17, 2);
        }
        String phases = "SELECT [round(gpu_compute_ns / 1e6), round(optimizer_step_ns / 1e6), round(unknown_ns / 1e6)]::VARCHAR AS ms "
                + "FROM step_mean";
        try (Database database = open(trace)) {
            assertThat(database.query(phases).texts("ms")).containsExactly("[5.0, 3.0, 12.0]");
        }
        try (Database database = open(trace.kernel("gemm", 7, 1, 1, 2))) {
            assertThat(database.query(phases).texts("ms")).containsExactly("[10.0, 3.0, 7.0]");
        }
    }

    /// Steps of 20 ms in which PyTorch compiles, in the first so many of six.
    private static TraceFixture compiling(int steps) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::mm", 100, at + 16, 3);
            if (i < steps) {
                trace.operator("dynamo", 100, at + 1, 14).operator("_compile.compile_inner (dynamo_timed)", 100, at + 2, 12);
                trace.operator("aten::empty", 100, at + 5, 1);
            }
        }
        return trace;
    }

    @Test
    void compilingStepsFiresForStepsInWhichTheCompilerRuns() {
        try (Database database = open(compiling(6))) {
            Finding finding = database.diagnose("compiling_steps").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(14.0);
            assertThat(finding.evidence())
                    .isEqualTo("mean of 6 steps: 14.0 ms of 20.0 ms in the compiler, in 6 of them; with the profiler on, without which it is less; "
                            + "saves at most 17.0 ms: 20.0 / (20.0 - 17.0) = 6.67x");
        }
    }

    @Test
    void compilingStepsFiresForBackwardPassesThatAreCompiledToo() {
        TraceFixture trace = compiling(6);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.operator("autograd::engine::evaluate_function: CompiledFunctionBackward", 100, at + 15.1, 0.8);
            trace.operator("entire_backward_compile", 100, at + 15.2, 0.6);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("compiling_steps").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(14.6);
            assertThat(finding.evidence()).contains("mean of 6 steps: 14.6 ms of 20.0 ms in the compiler, ");
        }
    }

    @Test
    void compilingStepsIsSilentForFirstSteps() {
        try (Database database = open(compiling(2))) {
            assertThat(database.diagnose("compiling_steps")).isEmpty();
        }
    }

    @Test
    void betweenOperatorsFiresAndNamesTheBuiltInFunctionThatTakesMostOfIt() {
        TraceFixture trace = reading(0);
        for (int i = 0; i < 6; i++) {
            trace.function("train.py(50): train", 100, i * 20 + 9.5, 10);
            trace.function("<built-in function collect>", 100, i * 20 + 10, 9);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("between_operators").getFirst();
            assertThat(finding.evidence()).contains("; 10.0 ms of it in train.py(50): train, most in <built-in function collect>; ");
            assertThat(finding.advice()).startsWith("no gc.collect() in each step");
        }
    }

    @Test
    void betweenOperatorsFiresWithWhatIsLeftWithoutFollowingEachCallOfPython() {
        TraceFixture trace = reading(0);
        for (int i = 0; i < 6; i++) {
            trace.function("train.py(50): tokenize", 100, i * 20 + 9.5, 10);
            for (int call = 0; call < 20_000; call++) {
                trace.function("train.py(60): split", 100, i * 20 + 9.5 + call * 0.0005, 0.0002);
            }
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("between_operators").getFirst();
            // 20,002 calls a step, and one of 120 ms: 3.0 of 11.8 ms
            assertThat(finding.leastLostMillisPerStep()).isEqualTo(8.8);
            assertThat(finding.evidence()).contains(
                    "; with the profiler on, without which it is less: it follows 20,002 calls of Python a step, at 0.15 us each for 3.0 ms; ");
        }
    }

    /// What a library calls counts to the program's function that called it, and an object's address does not matter.
    @Test
    void betweenOperatorsFiresForTheProgramsFunctionAndNotForWhatItCalls() {
        TraceFixture trace = reading(0);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.function("train.py(50): save", 100, at + 9.5, 10).function("json/encoder.py(1): encode", 100, at + 10, 9);
            trace.function("<built-in method write of _io.TextIOWrapper object at 0x7f0" + i + ">", 100, at + 11, 7);
        }
        try (Database database = open(trace)) {
            assertThat(database.diagnose("between_operators").getFirst().evidence())
                    .contains("; 10.0 ms of it in train.py(50): save, most in <built-in method write of _io.TextIOWrapper>; ");
        }
    }

    /// Steps of 20 ms: a forward pass of 4 ms, and a backward pass of 12 ms in which a function of Python runs for 9 ms, 3 of
    /// them in an operator.
    private static TraceFixture runningPython(String function) {
        TraceFixture trace = trace(100).function("train.py(1): <module>", 100, 0, 120);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::linear", 100, at + 1, 4);
            trace.operator("autograd::engine::evaluate_function: ScaleBackward", 100, at + 6, 12);
            trace.function("torch/autograd/function.py(300): apply", 100, at + 7, 10);
            trace.function(function, 100, at + 7.5, 9).operator("aten::mul", 100, at + 8, 3);
        }
        return trace;
    }

    @Test
    void pythonInPassesFiresForAFunctionOfAutogradInATrace() {
        try (Database database = open(runningPython("model.py(60): backward"))) {
            Finding finding = database.diagnose("python_in_passes").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(7.0);
            assertThat(finding.evidence()).isEqualTo("mean of 6 steps of 20.0 ms: 7.0 ms in Python that operators or the backward "
                    + "pass run, 6.0 ms of it in model.py(60): backward; with the profiler on, without which it is less; "
                    + "saves at most 10.0 ms: 20.0 / (20.0 - 10.0) = 2.00x");
            assertThat(finding.advice()).startsWith("in hooks and functions of autograd");
        }
    }

    @Test
    void pythonInPassesFiresForAnomalyDetectionInATrace() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::linear", 100, at + 1, 10);
            trace.function("torch/fx/traceback.py(504): format_stack", 100, at + 2, 8);
            trace.function("traceback.py(217): extract_stack", 100, at + 3, 6).operator("aten::isnan", 100, at + 12, 2);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("python_in_passes").getFirst();
            assertThat(finding.evidence())
                    .contains("8.0 ms of it in torch/fx/traceback.py(504): format_stack; 2.0 ms in operators that look for NaN; ");
            assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
            assertThat(finding.advice()).startsWith("no torch.autograd.set_detect_anomaly(True)");
        }
    }

    private static final String CALLER = "autograd::engine::evaluate_function: ";

    /// Steps of 20 ms without stacks: a forward pass of 4 ms, and a function of a backward pass in which no operator runs
    /// for `before` ms before it is called, `inside` ms while it runs, and `after` ms after it.
    private static TraceFixture callingBackward(String function, double before, double inside, double after) {
        return callingBackward(function, before, inside, after, "0");
    }

    private static TraceFixture callingBackward(String function, double before, double inside, double after, String number) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::linear", 100, at + 0.9, 4);
            trace.operator(CALLER + function, 100, at + 5, before + inside + 1 + after);
            trace.operator(function, 100, at + 5 + before, inside + 1);
            trace.operator("aten::mul", 100, at + 5 + before + inside, 0.99);
            trace.operator(CALLER + "MeanBackward" + number, 100, at + 4.98, 0.01);
        }
        return trace;
    }

    @Test
    void pythonInPassesFiresForFunctionsOfAutogradAndHooksInATraceWithoutStacks() {
        try (Database database = open(callingBackward("ClampBackward", 0.1, 7, 0.1))) {
            Finding finding = database.diagnose("python_in_passes").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(7.21);
            assertThat(finding.evidence()).isEqualTo("mean of 6 steps of 20.0 ms: 7.2 ms in Python that operators or the backward "
                    + "pass run, 7.2 ms of it in ClampBackward; with the profiler on, without which it is less; "
                    + "saves at most 8.2 ms: 20.0 / (20.0 - 8.2) = 1.69x");
            assertThat(finding.advice()).endsWith("profile with with_stack=True, which names the functions");
        }
        for (TraceFixture hooked : List.of(
                callingBackward("torch::autograd::AccumulateGrad", 6, 0, 0), // of a parameter
                callingBackward("torch::autograd::AccumulateGrad", 0, 6, 0), // of one whose gradient is there
                callingBackward("BackwardHookFunctionBackward", 3, 0, 3), // of a module
                callingBackward("AddmmBackward0", 6, 0, 0))) { // of another tensor
            try (Database database = open(hooked)) {
                assertThat(database.diagnose("python_in_passes").getFirst().lostMillisPerStep()).isCloseTo(6.0, within(0.02));
            }
        }
    }

    @Test
    void pythonInPassesFiresForTheForwardPassOfAFunctionOfAutogradInATraceWithoutStacks() {
        TraceFixture trace = callingBackward("ClampBackward", 0, 0, 0);
        for (int i = 0; i < 6; i++) {
            trace.operator("Clamp", 100, i * 20 + 10, 8).operator("aten::clamp", 100, i * 20 + 16, 1);
        }
        try (Database database = open(trace)) {
            assertThat(database.diagnose("python_in_passes").getFirst().lostMillisPerStep()).isEqualTo(7.01);
        }
    }

    @Test
    void pythonInPassesIsSilentForFunctionsOfPyTorchAndForMemoryThatIsFreedAfterThem() {
        for (TraceFixture trace : List.of(
                callingBackward("AddmmBackward0", 0, 5, 5),
                callingBackward("torch::autograd::CppNode<Roi>", 0, 10, 0),
                callingBackward("CheckpointFunctionBackward", 0, 10, 0),
                callingBackward("CompiledFunctionBackward", 0, 10, 0),
                callingBackward("AddmmBackward", 0, 10, 0, ""), // of PyTorch 1.10
                callingBackward("torch::autograd::AccumulateGrad", 0.04, 0.04, 0.04))) {
            try (Database database = open(trace)) {
                assertThat(database.diagnose("python_in_passes")).isEmpty();
            }
        }
    }

    @Test
    void pythonInPassesFiresForAnomalyDetectionInATraceWithoutStacks() {
        TraceFixture trace = callingBackward("AddmmBackward0", 0, 5, 0);
        try (Database database = open(trace)) {
            assertThat(database.diagnose("python_in_passes")).isEmpty();
        }
        for (int i = 0; i < 6; i++) {
            trace.operator(CALLER + "ReluBackward0", 100, i * 20 + 12, 5).operator("aten::isnan", 100, i * 20 + 12.04, 2);
            trace.operator("aten::isnan", 100, i * 20 + 14.05, 2);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("python_in_passes").getFirst();
            assertThat(finding.evidence()).isEqualTo("mean of 6 steps of 20.0 ms: 4.0 ms in operators that look for NaN; with the "
                    + "profiler on, without which it is less; saves at most 8.0 ms: 20.0 / (20.0 - 8.0) = 1.67x");
            assertThat(finding.advice()).startsWith("no torch.autograd.set_detect_anomaly(True)");
        }
    }

    @Test
    void aWaitForOtherRanksInAHookIsCommunicationAndNoPython() {
        TraceFixture trace = callingBackward("torch::autograd::AccumulateGrad", 10, 0, 0);
        for (int i = 0; i < 6; i++) {
            trace.range("gloo:all_reduce", 200, i * 20 + 7, 6);
            trace.range("gloo:all_reduce", 200, i * 20 + 14.98, 0.03); // too short for a wait
        }
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT DISTINCT name || ' ' || dur_ns AS wait FROM events WHERE kind = 'dist_wait'").texts("wait"))
                    .containsExactly("gloo:all_reduce 6000000");
            assertThat(database.diagnose("python_in_passes").getFirst().lostMillisPerStep()).isEqualTo(4.0);
        }
    }

    @Test
    void pythonInPassesIsSilentForPythonAroundOperatorsAndForThatOfPyTorchInATrace() {
        TraceFixture around = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            around.range("ProfilerStep#" + i, 100, at, 20).function("model.py(10): forward", 100, at + 1, 15);
            around.operator("aten::linear", 100, at + 9, 6).range("Optimizer.step#SGD.step", 100, at + 16, 3);
            around.function("torch/optim/sgd.py(90): step", 100, at + 16.1, 2.8);
        }
        try (Database database = open(around)) {
            assertThat(database.diagnose("python_in_passes")).isEmpty();
        }
        for (String function : new String[] {
            "torch/utils/checkpoint.py(1100): unpack_hook", "torch/_functorch/_aot_autograd/runtime_wrappers.py(90): apply",
            "/tmp/torchinductor_user/ab/cab.py(40): call", "<built-in method wait of torch._C._distributed_c10d.Work object at 0x7f>"
        }) {
            try (Database database = open(runningPython(function))) {
                assertThat(database.diagnose("python_in_passes")).isEmpty();
            }
        }
    }

    /// Steps of 20 ms with a forward pass of 6 ms and a backward pass in which so many of its operators run again.
    private static TraceFixture computingAgain(int operators) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20);
            trace.operator("aten::linear", 100, at + 1, 6).operator("aten::addmm", 100, at + 2, 4);
            trace.operator("autograd::engine::evaluate_function: AddmmBackward0", 100, at + 8, 11);
            trace.operator("aten::mm", 100, at + 14, 4);
            for (int j = 0; j < operators; j++) {
                trace.operator("aten::layer_norm", 100, at + 9 + j, 0.9).operator("aten::dropout", 100, at + 9.1 + j, 0.5);
            }
        }
        return trace;
    }

    @Test
    void recomputationFiresForOperatorsOfAForwardPassInTheBackwardPassOfATrace() {
        try (Database database = open(computingAgain(4))) {
            Finding finding = database.diagnose("recomputation").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(3.6);
            assertThat(finding.evidence()).isEqualTo("mean of 6 steps: 4 operators that only a forward pass has are in the "
                    + "backward pass, for 3.6 ms of 20.0 ms; with the profiler on, without which it is less; saves at most "
                    + "9.0 ms: 20.0 / (20.0 - 9.0) = 1.82x");
        }
    }

    @Test
    void recomputationIsSilentForFewOperatorsOfThatKindAndOnAGpu() {
        try (Database database = open(computingAgain(2))) {
            assertThat(database.diagnose("recomputation")).isEmpty();
        }
        try (Database database = open(computingAgain(4).kernel("gemm", 7, 1, 1, 2))) {
            assertThat(database.diagnose("recomputation")).isEmpty();
        }
    }

    /// Steps of 20 ms, 12 of them in an optimizer of so many operators.
    private static TraceFixture optimizing(int operators) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::linear", 100, at + 1, 6);
            trace.range("Optimizer.step#Adam.step", 100, at + 7, 12);
            for (int j = 0; j < operators; j++) {
                trace.operator("aten::mul_", 100, at + 7.1 + j * 11.0 / operators, 0.01);
            }
        }
        return trace;
    }

    @Test
    void slowOptimizerFiresForManyOperatorsInItInATraceOfACpu() {
        try (Database database = open(optimizing(80))) {
            Finding finding = database.diagnose("slow_optimizer").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
            assertThat(finding.evidence()).contains("; 80 operators a step are in it; with the profiler on, without which it is less; ");
        }
    }

    @Test
    void slowOptimizerIsSilentForAFusedOneAndOnAGpuInATrace() {
        try (Database database = open(optimizing(3))) {
            assertThat(database.diagnose("slow_optimizer")).isEmpty();
        }
        try (Database database = open(optimizing(80).kernel("gemm", 7, 1, 1, 2))) {
            assertThat(database.diagnose("slow_optimizer")).isEmpty();
        }
    }

    /// Steps of 20 ms with a table of embeddings, 12 of them in a fused optimizer, and so many to make its gradient.
    private static TraceFixture updatingEmbeddings(double gradientMs, double optimizedMs) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).operator("aten::embedding", 100, at + 1, 2);
            trace.operator("autograd::engine::evaluate_function: EmbeddingBackward0", 100, at + 4, gradientMs + 0.1);
            trace.operator("aten::embedding_dense_backward", 100, at + 4.05, gradientMs);
            trace.range("Optimizer.step#Adam.step", 100, at + 7, 12);
            trace.operator("aten::_fused_adam_", 100, at + 7.1, optimizedMs);
        }
        return trace;
    }

    @Test
    void slowOptimizerAdvisesSparseGradientsForEmbeddingsInATrace() {
        try (Database database = open(updatingEmbeddings(2, 11.4))) {
            Finding finding = database.diagnose("slow_optimizer").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
            assertThat(finding.maxSpeedup()).isEqualTo(3.33);
            assertThat(finding.advice()).startsWith("sparse=True with SparseAdam for large embeddings");
            assertThat(finding.evidence())
                    .contains("; operators, 1 a step, take 95 % of it, so parameters are large; "
                            + "making gradients for all rows of embeddings takes 2.0 ms more; ");
        }
    }

    @Test
    void slowOptimizerIsSilentForAFusedOneWithSmallEmbeddingsOrMuchPythonInATrace() {
        try (Database database = open(updatingEmbeddings(0.1, 11.4))) {
            assertThat(database.diagnose("slow_optimizer")).isEmpty();
        }
        try (Database database = open(updatingEmbeddings(2, 4))) {
            assertThat(database.diagnose("slow_optimizer")).isEmpty();
        }
    }

    @Test
    void slowOptimizerDoesNotCountGradientsOfEmbeddingsWhereParametersAreSmallInATrace() {
        TraceFixture trace = optimizing(80);
        for (int i = 0; i < 6; i++) {
            trace.operator("aten::embedding_dense_backward", 100, i * 20 + 1.5, 2);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("slow_optimizer").getFirst();
            assertThat(finding.maxSpeedup()).isEqualTo(2.5); // 20 / (20 - 12)
            assertThat(finding.advice()).startsWith("fused=True");
        }
    }

    /// So many steps of 20 ms, the seventh of which takes much longer.
    private static TraceFixture withASlowStep(int steps, double slowMs) {
        TraceFixture trace = trace(100);
        double at = 0;
        for (int i = 0; i < steps; i++) {
            double lasts = i == 6 ? slowMs : 20 + i % 3 * 0.1;
            trace.range("ProfilerStep#" + i, 100, at, lasts).operator("aten::linear", 100, at + 1, 15);
            at += lasts;
        }
        return trace;
    }

    @Test
    void slowStepsFiresForOneVerySlowStepOfAShortTrace() {
        try (Database database = open(withASlowStep(12, 120))) {
            Finding finding = database.diagnose("slow_steps").getFirst();
            assertThat(finding.value()).isEqualTo(1.0);
            assertThat(finding.lostMillisPerStep()).isEqualTo(8.325);
        }
    }

    @Test
    void slowStepsIsSilentForOneSlowStepOfAShortTrace() {
        try (Database database = open(withASlowStep(12, 60))) {
            assertThat(database.diagnose("slow_steps")).isEmpty();
        }
    }
}
