package io.dyber.zernel.analyze.trace;

import static io.dyber.zernel.analyze.TraceFixture.trace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Damage;
import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Traces that are opened without a recording.
public class TraceRecordingTest {
    private static final String RANK = "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8},";

    @TempDir
    Path folder;

    /// Steps of 20 ms: a batch, forward, backward on autograd's thread, and the optimizer. The GPU runs `busyMs` of each.
    private static TraceFixture training(int steps, double busyMs) {
        return training(steps, busyMs, 0, "_SingleProcessDataLoaderIter");
    }

    private static TraceFixture training(int steps, double busyMs, double startMs, String loader) {
        TraceFixture trace = trace(100).members(RANK).ahead(startMs);
        for (int i = 0; i < steps; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + (i + 7), 100, at, 20);
            trace.range("enumerate(DataLoader)#" + loader + ".__next__", 100, at + 1, 2);
            trace.operator("aten::linear", 100, at + 4, 5);
            trace.kernel("gemm", 7, at + 5, at + 6, busyMs);
            trace.operator("autograd::engine::evaluate_function: AddmmBackward0", 101, at + 10, 2);
            trace.operator("aten::mm", 101, at + 10.5, 1);
            trace.operator("autograd::engine::evaluate_function: MeanBackward0", 101, at + 13, 2);
            trace.range("Optimizer.step#SGD.step", 100, at + 16, 3);
            trace.copy("Memcpy DtoH (Device -> Pageable)", 7, at + 19, at + 19.2, 0.1);
        }
        return trace;
    }

    @Test
    void stepsPhasesAndBackwardPassesAreFound() {
        try (Database database = open(training(4, 3))) {
            assertThat(database.query("SELECT step, dur_ns // 1000 AS us, data_loading_ns // 1000 AS data, "
                            + "optimizer_step_ns // 1000 AS optimizer, step_kind, source FROM steps")
                    .toString())
                    .isEqualTo("""
                    step	us	data	optimizer	step_kind	source
                    1	20000	2000	3000	train	role of ProfilerStep
                    2	20000	2000	3000	train	role of ProfilerStep
                    3	20000	2000	3000	train	role of ProfilerStep
                    4	20000	2000	3000	train	role of ProfilerStep""");
            assertThat(database.query("SELECT tid, count(*) AS n, min(dur_ns) AS ns FROM events WHERE kind = 'backward' GROUP BY 1")
                            .toString())
                    .isEqualTo("tid\tn\tns\n100\t4\t5000000");
        }
    }

    @Test
    void aStepThatTheEndOfProfilingCutOffIsNone() {
        TraceFixture trace = training(3, 3).range("ProfilerStep#10", 100, 60, 1).operator("aten::item", 100, 60.1, 0.5);
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT count(*) AS n, max(end_ns) - min(start_ns) AS ns FROM steps").toString())
                    .isEqualTo("n\tns\n3\t60000000");
        }
    }

    @Test
    void aPassOfAServerOfModelsIsAStep() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 3; i++) {
            String batch = 8 * i + "_context_" + i + "(sq8sk8)_generation_" + (32 + i) + "(sq32sk5506)";
            trace.range("step[DECODE bs=" + (32 + i) + "]", 100, i * 20, 18).range("execute_" + batch, 100, i * 20 + 1, 16);
            trace.kernel("gemm", 7, i * 20 + 5, i * 20 + 6, 10);
            trace.range("execute_context_" + i + "(888_788544)_generation_0(0)", 200, i * 20, 15).kernel("gemm", 8, i * 20 + 5, i * 20 + 6, 10);
            trace.range("execute_diffusion_" + i + "_256x256", 300, i * 20, 15).kernel("gemm", 9, i * 20 + 5, i * 20 + 6, 10);
        }
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT tid || ': ' || source AS step FROM steps ORDER BY tid, step").texts("step"))
                    .containsExactly(
                            "100: role of step", "100: role of step", "100: role of step",
                            "200: role of execute", "200: role of execute", "200: role of execute",
                            "300: role of execute", "300: role of execute", "300: role of execute");
        }
    }

    private static TraceFixture withFunctions(TraceFixture trace) {
        for (int i = 0; i < 6; i++) {
            trace.function("train.py(10): main", 100, i * 20, 19).function("train.py(30): read_batch", 100, i * 20 + 1, 8);
        }
        return trace;
    }

    @Test
    void stepsAndFunctionsAreComparedWithoutTheirNumbersAndWhatTheyCall() {
        String before = withFunctions(training(6, 3)).write(folder.resolve("before.json")).toString();
        String after = withFunctions(training(8, 3)).write(folder.resolve("after.json")).toString();
        try (Database database = Recordings.compare(before, after, DatabaseOptions.defaults(), SqlLibrary.builtIn())) {
            assertThat(database.query("SELECT name FROM call_diff WHERE name LIKE 'Profiler%'").texts("name")).containsExactly("ProfilerStep");
            assertThat(database.query("SELECT name FROM call_diff WHERE kind = 'py_call' AND name IS NOT NULL").texts("name"))
                    .containsExactly("train.py(10): main"); // and not what it calls
        }
    }

    @Test
    void howBusyTheGpuIsIsKnownOfASingleStep() {
        try (Database database = open(training(1, 3))) {
            assertThat(database.query("SELECT samples, round(busy, 2) AS busy FROM gpu_busy").toString())
                    .isEqualTo("samples\tbusy\n0\t0.23");
        }
    }

    @Test
    void aShortLastStepThatDoesAsMuchAsOthersIsOne() {
        TraceFixture trace = trace(100).range("ProfilerStep#1", 100, 0, 500).operator("aten::mm", 100, 1, 400);
        trace.range("ProfilerStep#2", 100, 500, 20).operator("aten::mm", 100, 501, 18);
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT count(*) AS n FROM steps").only().integer("n")).isEqualTo(2);
        }
    }

    @Test
    void callsHaveTheKindsOfARecordingAndCopiesKnowTheirDirection() {
        try (Database database = open(training(1, 3).call("cudaStreamSynchronize", 19.9).call("cudaEventRecord", 19.95))) {
            assertThat(database.query("SELECT kind, name, kernel, copy_kind, async, host_memory FROM events "
                            + "WHERE tid = 100 AND kind NOT IN ('region', 'torch_op', 'backward') ORDER BY ts_ns")
                    .toString())
                    .isEqualTo("""
                    kind	name	kernel	copy_kind	async	host_memory
                    cuda_launch	cudaLaunchKernel	gemm	-	-	-
                    cuda_copy	cudaMemcpyAsync	-	DtoH	1	pageable
                    cuda_sync	cudaStreamSynchronize	-	-	-	-
                    call	cudaEventRecord	-	-	-	-""".replace("-", "null"));
        }
    }

    @Test
    void aCopyOfHipWithAStreamWaitsForTheGpu() {
        TraceFixture trace = trace(100).range("ProfilerStep#1", 100, 0, 20).call("hipMemcpyWithStream", 2)
                .activity("gpu_memcpy", "Memcpy DtoH (Device -> Host)", 0, 7, 2, 0.005);
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT name, async FROM events WHERE kind = 'cuda_copy'").toString())
                    .isEqualTo("name\tasync\nhipMemcpyWithStream\t0");
            assertThat(database.query("SELECT total_ns FROM phase_parts WHERE part = 'gpu_wait'").toString())
                    .isEqualTo("total_ns\n10000");
        }
    }

    @Test
    void aCallOfTheDriverInsideOneOfTheRuntimeIsNotCountedTwice() {
        String call = "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": %d, "
                + "\"args\": {\"correlation\": 5}}";
        String json = "{\"traceEvents\": [" + String.format(call, "cuda_driver", "cuLaunchKernel", 11, 3) + ","
                + String.format(call, "cuda_runtime", "cudaLaunchKernel", 10, 5) + "]}";
        try (Database database = open(write(json))) {
            assertThat(database.query("SELECT name, depth FROM events WHERE kind = 'cuda_launch' ORDER BY ts_ns").toString())
                    .isEqualTo("name\tdepth\ncudaLaunchKernel\t0\ncuLaunchKernel\t1");
        }
    }

    @Test
    void rankAndWorldSizeAreThoseOfTheTrace() {
        try (Database database = open(training(2, 3))) {
            assertThat(database.query("SELECT pid, rank, world_size FROM processes").toString())
                    .isEqualTo("pid\trank\tworld_size\n100\t3\t8");
        }
    }

    @Test
    void severalTracesAreRanksOfOneJob() {
        Path one = training(3, 3).write(folder.resolve("rank0.json"));
        Path other = training(3, 9).members(RANK.replace("3", "4")).write(folder.resolve("rank1.json"));
        try (Database database = Recordings.open(one.toString(), other.toString())) {
            assertThat(database.query("SELECT recording, busy_ns // 1000 AS us FROM gpu_time").toString())
                    .isEqualTo("recording\tus\n0\t9000\n1\t27000");
        }
    }

    @Test
    void tracesOfOneProcessThatFollowEachOtherAreOneRecording() {
        String[] cycles = new String[3];
        for (int i = 0; i < cycles.length; i++) {
            Path file = folder.resolve("cycle" + i + ".json");
            cycles[i] = training(2, 3, 500 * i, "_SingleProcessDataLoaderIter").write(file).toString();
        }
        try (Database database = Recordings.open(cycles[2], cycles[0], cycles[1])) {
            assertThat(database.query("SELECT recording, events FROM recordings").toString())
                    .isEqualTo("recording\tevents\n0\t72");
            assertThat(database.query("SELECT pid, rank, world_size FROM processes").toString())
                    .isEqualTo("pid\trank\tworld_size\n100\t3\t8");
            // Between two of them nobody looked.
            assertThat(database.query("SELECT count(*) AS n, min(dur_ns) AS least, max(dur_ns) AS most FROM steps").toString())
                    .isEqualTo("n\tleast\tmost\n6\t20000000\t20000000");
            assertThat(database.query("SELECT sum(total_ns) AS ns FROM phases").toString()).isEqualTo("ns\n120000000");
            assertThat(database.query("SELECT profiled_ns // 1000 AS us FROM gpu_time").toString()).isEqualTo("us\n99900");
            assertThat(database.query("SELECT sum(idle_ns) // 1000 AS us FROM gpu_stream_idle").toString()).isEqualTo("us\n81300");
            assertThat(database.query("SELECT count(*) AS n FROM gpu_traces").toString()).isEqualTo("n\n3");
        }
    }

    @Test
    void tracesOfOneProcessThatOverlapAreSeveralRecordings() {
        String one = training(2, 3).write(folder.resolve("one.json")).toString();
        String other = training(2, 3, 20, "_SingleProcessDataLoaderIter").write(folder.resolve("other.json")).toString();
        try (Database database = Recordings.open(one, other)) {
            assertThat(database.recordings()).hasSize(2);
        }
    }

    @Test
    void aMergedTraceGivesEachProcessWhatItLaunched() {
        String first = training(1, 3).write(folder.resolve("a.json")).toString();
        String text = read(Path.of(first)).replaceAll("\\s*\\], \"traceName.*", "");
        String second = read(trace(200).kernel("gemm", 7, 50, 52, 4).write(folder.resolve("b.json")));
        String events = second.substring(second.indexOf("[\n") + 1);
        try (Database database = open(write(text + ", " + events))) {
            assertThat(database.query("SELECT pid, name FROM gpu_activity WHERE work = 'compute' ORDER BY ALL").toString())
                    .isEqualTo("pid\tname\n100\tgemm\n200\tgemm");
        }
    }

    @Test
    void aMergedTraceWhoseProcessesAreTextsGivesEachWhatItLaunched() {
        StringBuilder events = new StringBuilder();
        for (int rank = 0; rank < 2; rank++) {
            // Both ranks use correlation 1, and the first calls last before the other's kernel.
            String pid = "\"pid\": \"[TP0" + rank + "] ";
            events.append("{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", " + pid + "4711\", "
                    + "\"tid\": \"4711\", \"ts\": " + (9 - rank) + ", \"dur\": 1, \"args\": {\"correlation\": 1}},\n"
                    + "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm" + rank + "\", " + pid + rank + "\", "
                    + "\"tid\": \"stream 7\", \"ts\": 20, \"dur\": 5, \"args\": {\"correlation\": 1}},\n");
        }
        try (Database database = open(write("[" + events.substring(0, events.length() - 2) + "]"))) {
            assertThat(database.query("SELECT pid, device, stream, name, launch_ns FROM gpu_activity ORDER BY ALL").toString())
                    .isEqualTo("pid\tdevice\tstream\tname\tlaunch_ns\n4711\t0\t7\tgemm0\t9000\n4712\t1\t7\tgemm1\t8000");
        }
    }

    @Test
    void aMergedTraceWhoseProcessesAreNumberedTextsGivesEachWhatItLaunched() {
        StringBuilder events = new StringBuilder();
        for (int rank = 0; rank < 2; rank++) {
            String pid = "\"pid\": \"rank " + rank + "\", ";
            events.append("{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", " + pid
                    + "\"tid\": 4711, \"ts\": " + (9 - rank) + ", \"dur\": 1, \"args\": {\"correlation\": 1}},\n"
                    + "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm" + rank + "\", " + pid
                    + "\"tid\": 7, \"ts\": 20, \"dur\": 5, \"args\": {\"correlation\": 1}},\n");
        }
        try (Database database = open(write("[" + events.substring(0, events.length() - 2) + "]"))) {
            assertThat(database.query("SELECT pid, device, name, launch_ns FROM gpu_activity ORDER BY ALL").toString())
                    .isEqualTo("pid\tdevice\tname\tlaunch_ns\n0\t0\tgemm0\t9000\n1\t1\tgemm1\t8000");
        }
    }

    @Test
    void aTextOfAGpuThatIsLikeSeveralProcessesBelongsToWhoLaunched() {
        StringBuilder events = new StringBuilder();
        for (int rank = 0; rank < 2; rank++) {
            events.append("{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": \"rank " + rank
                    + "\", \"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": {\"correlation\": " + rank + "}},\n");
        }
        events.append("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": \"rank 7\", \"tid\": 7, "
                + "\"ts\": 20, \"dur\": 5, \"args\": {\"correlation\": 1}}");
        try (Database database = open(write("[" + events + "]"))) {
            assertThat(database.query("SELECT pid, device FROM gpu_activity").toString()).isEqualTo("pid\tdevice\n1\t7");
        }
    }

    @Test
    void callsOfOtherMakersDevicesAreCalls() {
        Path trace = write("""
                {"traceEvents": [{"ph": "X", "cat": "xpu_runtime", "name": "urEnqueueKernelLaunch", "pid": 1, "tid": 1,
                "ts": 5, "dur": 1}]}""");
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT kind, name FROM events").toString())
                    .isEqualTo("kind\tname\ncall\turEnqueueKernelLaunch");
        }
    }

    @Test
    void aTraceThatEndsEarlyIsIncompleteAndSaysWhy() {
        String text = read(training(3, 3).write(folder.resolve("whole.json")));
        try (Database database = open(write(text.substring(0, text.length() / 2)))) {
            assertThat(database.recordings().getFirst().incompleteBecause()).hasSize(1).first().asString()
                    .startsWith("damaged after 17 events: ");
            assertThat(database.query("SELECT count(*) AS n FROM steps").only().integer("n")).isEqualTo(2);
        }
    }

    @Test
    void aTraceOfWhichEventsWereSkippedIsIncompleteAndSaysWhich() {
        String text = read(training(3, 3).write(folder.resolve("whole.json")));
        try (Database database = open(write(text.replace("\"traceEvents\": [", "\"traceEvents\": ["
                + "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\": 1, \"dur\": -2},")))) {
            assertThat(database.recordings().getFirst().incompleteBecause())
                    .containsExactly("1 event was skipped: kernel without a duration");
        }
    }

    @Test
    void aTraceWithoutGpuHasStepsOnly() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 3; i++) {
            trace.range("ProfilerStep#" + i, 100, i * 20, 20).operator("aten::mm", 100, i * 20 + 1, 18);
        }
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT count(*) AS n FROM steps").only().integer("n")).isEqualTo(3);
            assertThat(database.query("FROM gpu_time").rows()).isEmpty();
        }
    }

    @Test
    void aTraceOfNothingIsRefused() {
        Path empty = write("{\"traceEvents\": []}");
        assertThatThrownBy(() -> Recordings.open(empty.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + empty + "': nothing in it ran on a CPU or a GPU");
    }

    @Test
    void aTraceOfJaxOrTensorFlowIsRefusedAsOne() {
        Path trace = write("""
                {"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [
                {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
                {"ph": "X", "pid": 1, "tid": 3, "ts": 0.5, "dur": 12.0, "name": "fusion.1", "args": {"hlo_op": "fusion.1"}}]}""");
        assertThatThrownBy(() -> Recordings.open(trace.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + trace + "': its events have no category, as those of JAX and TensorFlow; "
                        + "only PyTorch's can be read");
    }

    /// Steps of 20 ms with a kernel of 3 ms and a copy of 15 ms, which begins when the kernel has run so long.
    private static TraceFixture copying(String copy, double kernelMs) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).kernel("gemm", 7, at + 0.5, at + 1, 3);
            trace.copy("Memcpy " + copy, 9, at + 0.6, at + 1 + kernelMs, 15);
        }
        return trace;
    }

    @Test
    void copyBoundFiresForCopiesThatNoKernelHides() {
        try (Database database = open(copying("HtoD (Pinned -> Device)", 1))) {
            Finding finding = database.diagnose("copy_bound").getFirst();
            // 15 ms, of which 2 behind the kernel.
            assertThat(finding.lostMillisPerStep()).isEqualTo(13.0);
            assertThat(finding.evidence()).startsWith("mean of 6 steps: GPU 0 only copies for 13.0 ms of 20.0 ms; copies of "
                    + "a step: 1.0 HtoD from pinned memory of 1.0 kB in all, at 0.0 GB/s, that take 15.0 ms; behind kernels "
                    + "at most 3.0 ms of it can be hidden, as long as these run; ");
            assertThat(finding.advice()).startsWith("keep on the GPU what is used again");
        }
    }

    @Test
    void copyBoundFiresForCopiesInsideTheGpu() {
        try (Database database = open(copying("DtoD (Device -> Device)", 3))) {
            Finding finding = database.diagnose("copy_bound").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
            assertThat(finding.advice()).startsWith("copy less inside the GPU");
        }
    }

    @Test
    void copyBoundIsSilentForHiddenCopiesAndForThoseThatTheProgramWaitsFor() {
        TraceFixture hidden = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            hidden.range("ProfilerStep#" + i, 100, at, 20).kernel("gemm", 7, at + 0.5, at + 1, 17);
            hidden.copy("Memcpy HtoD (Pinned -> Device)", 9, at + 0.6, at + 2, 15);
        }
        try (Database database = open(hidden)) {
            assertThat(database.diagnose("copy_bound")).isEmpty();
        }
        try (Database database = open(copying("DtoH (Device -> Pageable)", 3))) {
            assertThat(database.diagnose("copy_bound")).isEmpty();
        }
    }

    @Test
    void optimizersThatTakeTurnsAreOneStepOfATrace() {
        assertThat(steps(turns("SGD", "Adam"))).isEqualTo(6);
        assertThat(steps(turns("Adam", "Adam"))).isEqualTo(12);
    }

    /// Twelve turns of 10 ms of two optimizers, with nothing but operators and `Optimizer.step`.
    private static TraceFixture turns(String first, String second) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 12; i++) {
            double at = i * 10;
            trace.operator("aten::linear", 100, at + 1, 2)
                    .operator("autograd::engine::evaluate_function: AddmmBackward0", 101, at + 4, 0.5)
                    .range("Optimizer.step#" + (i % 2 == 0 ? first : second) + ".step", 100, at + 8, 2)
                    .operator("aten::add_", 100, at + 8.5, 1);
        }
        return trace;
    }

    private long steps(TraceFixture trace) {
        try (Database database = open(trace)) {
            return database.query("SELECT count(*) AS n FROM steps").only().integer("n");
        }
    }

    @Test
    void unexplainedTimeIsSilentForATrace() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 5; i++) {
            trace.range("ProfilerStep#" + i, 100, i * 20, 20).operator("aten::mm", 100, i * 20 + 1, 18);
        }
        try (Database database = open(trace)) {
            assertThat(database.diagnose("unexplained_time")).isEmpty();
        }
    }

    @Test
    void aGpuThatWaitsForAnOperatorWaitsForDispatch() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 2; i++) {
            trace.range("ProfilerStep#" + i, 100, i * 20, 20).operator("aten::linear", 100, i * 20 + 2, 12)
                    .operator("aten::addmm", 100, i * 20 + 3, 10).kernel("gemm", 7, i * 20 + 12, i * 20 + 12, 2);
        }
        // From the end of the first gemm, at 14 ms, to the launch of the second, at 32 ms: the operator begins at 22 ms.
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT cause, idle_ns // 1000 AS us FROM gpu_idle_causes").toString())
                    .isEqualTo("cause\tus\ndispatch\t10000\nno call\t8000");
        }
    }

    @Test
    void dataBoundFiresWithoutSayingWhatATraceDoesNotTellOfCpus() {
        try (Database database = open(training(6, 3))) {
            Finding finding = database.diagnose("data_bound").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(2.0);
            assertThat(finding.evidence()).startsWith(
                    "mean of 6 steps: 2.0 ms waiting of 20.0 ms; the training thread loads the data itself (num_workers=0); "
                            + "the GPU is idle for ");
            assertThat(finding.advice()).isEqualTo(
                    "DataLoader(num_workers=1, persistent_workers=True): whether CPUs are free is not known");
        }
    }

    @Test
    void dataBoundFiresForWorkersThatATraceDoesNotShow() {
        try (Database database = open(training(6, 3, 0, "_MultiProcessingDataLoaderIter"))) {
            Finding finding = database.diagnose("data_bound").getFirst();
            assertThat(finding.evidence()).startsWith("mean of 6 steps: 2.0 ms waiting of 20.0 ms; a trace does not show the workers; ");
            assertThat(finding.advice()).isEqualTo(
                    "more workers (num_workers, prefetch_factor) if each is busy, none (num_workers=0) if loading takes"
                            + " less than the hand-over of a batch: zernel-record says which");
        }
    }

    @Test
    void dataBoundFiresInATraceOfOneStepWithLowSeverity() {
        TraceFixture trace = trace(100).range("ProfilerStep#7", 100, 0, 20);
        for (int i = 0; i < 2; i++) {
            trace.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, i * 10 + 1, 6);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("data_bound").getFirst();
            assertThat(finding.severity()).isEqualTo("low");
            assertThat(finding.evidence())
                    .startsWith("the only step: 12.0 ms waiting of 20.0 ms; ")
                    .contains("; whether first steps are among them is not known");
        }
    }

    @Test
    void dataBoundFiresForANamedRangeOfATraceWithoutSayingWhetherItSleeps() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            trace.range("ProfilerStep#" + i, 100, i * 20, 20).range("zernel.data_wait#fetch", 100, i * 20 + 1, 10);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("data_bound").getFirst();
            assertThat(finding.evidence())
                    .startsWith("mean of 6 steps: 10.0 ms waiting of 20.0 ms; all in zernel.data_wait#fetch; saves at most ");
            assertThat(finding.advice())
                    .isEqualTo("fetch the next batch in a thread or process of its own while this one computes");
        }
    }

    @Test
    void gpuStarvedFiresWithWhatIsLeftWithoutTheProfiler() {
        // 19.3 ms from the start of a kernel to that of the next, less its 3 ms and the copy's: 20 / 1.3 ms are the CPU's.
        try (Database database = open(training(6, 3))) {
            Finding finding = database.diagnose("gpu_starved").getFirst();
            assertThat(finding.lostMillisPerStep()).isBetween(5.0, 15.0);
            assertThat(finding.evidence()).contains("GPU 0 idle for ", "a CPU that is 1.3 times as fast");
            assertThat(database.diagnose("launch_bound")).isEmpty();
        }
    }

    /// A loop that ends each step with a wait, as `loss.item()`: the GPU runs dry just before the step ends.
    @Test
    void gpuStarvedFiresForAGapThatBeginsInTheStepBefore() {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + (i + 7), 100, at, 20).kernel("gemm", 7, at + 15, at + 15.1, 4.8);
            trace.call("cudaStreamSynchronize", at + 15.2, 4.75);
        }
        try (Database database = open(trace)) {
            // Five gaps of 15.15 ms after the wait, in six steps.
            assertThat(database.diagnose("gpu_starved").getFirst().evidence()).contains("GPU 0 idle for 12.6 ms of 20.0 ms");
        }
    }

    /// Each step reads a batch for 8 ms, of which 6 ms in a package, and then launches 5 ms of kernels at once.
    private static TraceFixture reads(boolean withStack) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20);
            if (withStack) {
                trace.function("train.py(10): main", 100, at, 20).function("train.py(30): read_batch", 100, at + 1, 8);
                trace.function("torch/serialization.py(900): load", 100, at + 2, 6);
                trace.function("json/decoder.py(30): decode", 100, at + 3, 4).function("<frozen runpy>(30): run", 100, at + 4, 1);
            }
            for (int kernel = 0; kernel < 10; kernel++) {
                trace.kernel("gemm", 7, at + 9 + kernel * 0.02, at + 9.01 + kernel * 0.5, 0.5);
            }
            trace.call("cudaStreamSynchronize", at + 10, 4);
        }
        return trace;
    }

    @Test
    void gpuStarvedFiresAndNamesTheFunctionOfTheProgram() {
        try (Database database = open(reads(true))) {
            Finding finding = database.diagnose("gpu_starved").getFirst();
            // Gaps are from 14 ms of a step to 9 ms of the next; of 15 ms, 8 ms are in the function and 7 ms in what calls it.
            assertThat(finding.evidence()).contains("; 53 % of the idle time in train.py(30): read_batch; ");
            assertThat(finding.advice()).startsWith("make that cheaper or rarer, or do it ahead");
            assertThat(database.query("SELECT function FROM gpu_idle_functions").texts("function"))
                    .containsExactly("train.py(30): read_batch", "train.py(10): main");
        }
    }

    @Test
    void gpuStarvedFiresAndNamesTheRangeOfTheProgram() {
        TraceFixture trace = reads(false).range("train_epoch", 100, 0, 120);
        for (int i = 0; i < 6; i++) {
            trace.range("read", 100, i * 20 + 1, 8);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("gpu_starved").getFirst();
            assertThat(finding.evidence()).contains("% of the idle time in the range read; ");
            assertThat(finding.advice()).startsWith("make what it does there cheaper or rarer, or do it ahead");
            assertThat(database.query("SELECT count(*) AS whole FROM gpu_idle_functions WHERE function LIKE '%train_epoch'").only().integer("whole"))
                    .isZero();
        }
    }

    @Test
    void gpuStarvedFiresAndNamesNoFunctionWithoutStacks() {
        try (Database database = open(reads(false))) {
            Finding finding = database.diagnose("gpu_starved").getFirst();
            assertThat(finding.evidence()).doesNotContain("of the idle time in");
            assertThat(finding.advice()).endsWith("profile with with_stack=True, which names the function");
        }
    }

    @Test
    void gpuStarvedFiresInATraceOfOneStep() {
        TraceFixture trace = trace(100).range("ProfilerStep#7", 100, 0, 20);
        for (int i = 0; i < 10; i++) {
            trace.kernel("gemm", 7, i * 2 + 1, i * 2 + 1.1, 0.2);
        }
        try (Database database = open(trace)) {
            Finding finding = database.diagnose("gpu_starved").getFirst();
            assertThat(finding.evidence()).startsWith("the only step: ").contains("; whether it is a first one, which takes longer, is not known; ");
            assertThat(finding.severity()).isEqualTo("low");
        }
    }

    /// As where a library is loaded before the first kernel of its kind.
    @Test
    void gpuStarvedIsSilentInATraceOfOneStepWithOneGap() {
        TraceFixture trace = trace(100).range("ProfilerStep#7", 100, 0, 40);
        for (int i = 0; i < 8; i++) {
            double at = i < 4 ? i : 30 + i;
            trace.kernel("gemm", 7, at, at + 0.1, 0.95);
        }
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT max(end_ns - start_ns) > 20000000 AS long FROM gpu_idle").only().flag("long")).isTrue();
            assertThat(database.diagnose("gpu_starved")).isEmpty();
        }
    }

    /// Weights come from the host in each step: the GPU copies for 19.2 of 20 ms, and the program waits for that.
    @Test
    void syncBoundIsSilentWhereTheGpuCopiesWhatItNeeds() {
        assertThat(found("Memcpy HtoD (Pinned -> Device)")).doesNotContain("sync_bound");
        assertThat(found("Memcpy DtoD (Device -> Device)")).doesNotContain("sync_bound");
        // The results of each step go to the host, which need not be.
        assertThat(found("Memcpy DtoH (Device -> Pinned)")).contains("sync_bound");
    }

    private List<String> found(String copy) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 8; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + (i + 7), 100, at, 20).kernel("gemm", 7, at + 0.1, at + 0.2, 0.3);
            trace.copy(copy, 7, at + 0.3, at + 0.6, 19.2).call("cudaStreamSynchronize", at + 0.5, 19.4);
        }
        try (Database database = open(trace)) {
            return database.diagnose().findings().stream().map(Finding::name).toList();
        }
    }

    @Test
    void gpuStarvedIsSilentWhereTheGpuIsBusy() {
        try (Database database = open(training(6, 13))) {
            assertThat(database.diagnose("gpu_starved")).isEmpty();
        }
    }

    @Test
    void idleTimeOfStreamsIsWhatHolisticTraceAnalysisCallsIt() {
        TraceFixture trace = trace(100)
                .kernel("a", 7, 0, 1, 2)
                .kernel("b", 7, 1.5, 3.01, 1) // launched in time, at once
                .kernel("c", 7, 2, 5, 1) // launched in time, waited
                .kernel("d", 7, 7, 8, 1); // launched late
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT cause, gaps, idle_ns // 1000 AS us FROM gpu_stream_idle").toString())
                    .isEqualTo("cause\tgaps\tus\nhost wait\t1\t2000\nkernel wait\t1\t10\nother\t1\t990");
        }
    }

    @Test
    void damagedTracesAreOpenedOrGiveOneLine() throws IOException {
        byte[] whole = Files.readAllBytes(training(3, 3).write(folder.resolve("whole.json")));
        int opened = 0;
        for (long seed = 0; seed < 40; seed++) {
            Path file = folder.resolve("damaged.json");
            Files.write(file, Damage.of(whole, new SplittableRandom(seed)));
            try (Database database = Recordings.open(file.toString())) {
                database.query("FROM steps");
                database.query("FROM gpu_idle_causes");
                opened++;
            } catch (RecordingException e) {
                assertThat(e).as("seed " + seed).hasMessageStartingWith("opening '").hasMessageNotContaining("\n");
            }
        }
        assertThat(opened).isPositive();
    }

    private Database open(TraceFixture trace) {
        return open(trace.write(folder.resolve("trace.json")));
    }

    private static Database open(Path trace) {
        return Recordings.open(trace.toString());
    }

    private Path write(String json) {
        try {
            return Files.writeString(folder.resolve("written.json"), json);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
