package io.dyber.zernel.analyze.trace;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static io.dyber.zernel.analyze.TraceFixture.trace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Traces that join recordings, and the views of what GPUs did.
class GpuTraceTest {
    private static final String ENVIRONMENT =
            "[{\"pid\": 100, \"environment\": {\"RANK\": \"3\"}}, {\"pid\": 101, \"environment\": {\"RANK\": \"1\"}}]";

    @TempDir
    Path folder;

    /// Data wait until 10 ms, forward until 20, backward until 30, optimizer until 35.
    private static RecordingFixture step() {
        return recording().region(NEXT, 0, 10).backward(20, 10).region(STEP, 30, 5).region(NEXT, 35, 5);
    }

    private static TraceFixture activity() {
        return trace(100)
                .kernel("gemm", 7, -1, 0, 2)
                .kernel("gemm", 7, 12, 12.5, 5)
                .kernel("ncclDevKernel_AllReduce", 20, 13, 15, 5)
                .copy("Memcpy DtoH (Device -> Pinned)", 7, 14, 19, 3)
                .kernel("relu", 7, 16, 23, 2)
                .kernel("adam", 7, 33, 33, 1);
    }

    @Test
    void timeIsComputeExposedCommunicationCopiesAndIdle() {
        assertThat(query(step(), activity(), "SELECT device, profiled_ns // 1000 AS profiled, busy_ns // 1000 AS busy, "
                        + "compute_ns // 1000 AS compute, communication_ns // 1000 AS communication, "
                        + "exposed_communication_ns // 1000 AS exposed, copy_ns // 1000 AS copy, "
                        + "exposed_copy_ns // 1000 AS alone, idle_ns // 1000 AS idle, hidden_share FROM gpu_time"))
                .isEqualTo("""
                device	profiled	busy	compute	communication	exposed	copy	alone	idle	hidden_share
                0	34000	12500	10000	5000	2500	3000	2000	19500	0.5""");
    }

    @Test
    void idleTimeIsForWhatTheTrainingThreadDidUntilItLaunched() {
        assertThat(query(step(), activity(), "SELECT cause, gaps, idle_ns // 1000 AS us, longest_ns // 1000 AS longest "
                        + "FROM gpu_idle_causes"))
                .isEqualTo("""
                cause	gaps	us	longest
                data wait	1	8000	8000
                dispatch	2	7000	5000
                optimizer	1	3000	3000
                queued	1	1000	1000
                launch latency	1	500	500""");
        assertThat(query(step(), activity(), "SELECT sum(gpu_idle.dur_ns) = any_value(gpu_time.idle_ns) AS whole "
                        + "FROM gpu_idle, gpu_time"))
                .isEqualTo("whole\ntrue");
    }

    @Test
    void idleTimeOfManySecondsIsTold() {
        TraceFixture trace = trace(100).activity("kernel", "a", 0, 7, 0, 1).kernel("late", 7, 5000, 5001, 1);
        assertThat(query(step(), trace, "SELECT sum(idle_ns) // 1000000 AS ms FROM gpu_idle_causes")).isEqualTo("ms\n5000");
    }

    @Test
    void idleTimeWithoutALaunchOrACallIsUnknown() {
        TraceFixture trace = trace(100).activity("kernel", "a", 0, 7, 0, 1).activity("kernel", "b", 0, 7, 3, 1)
                .kernel("late", 7, 90, 91, 1);
        assertThat(query(step(), trace, "SELECT cause, idle_ns // 1000 AS us FROM gpu_idle_causes"))
                .isEqualTo("""
                cause	us
                unknown	52000
                dispatch	20000
                data wait	11000
                optimizer	5000
                launch latency	1000""");
    }

    /// Names as they are in traces of PyTorch's symmetric memory, vLLM, AITER and TensorRT-LLM.
    @Test
    void allReducesThatEnginesBringAreCommunicationAndOtherReductionsAreNot() {
        TraceFixture trace = trace(100);
        List<String> names = List.of(
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(unsigned int)",
                "void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16>(float**)",
                "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
                "void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(aiter::RankData*)",
                "void tensorrt_llm::kernels::oneShotAllReduceKernel<float>(float*)",
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(float)",
                "void softmax_warp_forward<float, float, 8, false>(float*)",
                "triton_poi_fused_one_shot_all_reduce_add_0",
                "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
                "Cijk_Ailk_Bljk_BBS_MT128x128_ReduceScatterless");
        for (int i = 0; i < names.size(); i++) {
            trace.kernel(names.get(i), 7, i, i + 0.1, 0.5);
        }
        try (Database database = Recordings.open(trace.write(folder.resolve("trace.json")).toString())) {
            assertThat(database.query("SELECT work, count(*) AS kernels FROM gpu_activity GROUP BY ALL ORDER BY work").toString())
                    .isEqualTo("work\tkernels\ncommunication\t5\ncompute\t5");
        }
    }

    @Test
    void kernelsAreSummedByNameWithTheirLaunchDelay() {
        assertThat(query(step(), activity(), "SELECT work, name, runs, sum_ns // 1000 AS us, delay_p50_ns // 1000 AS delay, bytes "
                        + "FROM gpu_kernels LIMIT 3"))
                .isEqualTo("""
                work	name	runs	us	delay	bytes
                compute	gemm	2	7000	750	2000
                communication	ncclDevKernel_AllReduce	1	5000	2000	1000
                copy	Memcpy DtoH (Device -> Pinned)	1	3000	5000	1000""");
    }

    @Test
    void rowsAreEventsOfTheirProcess() {
        assertThat(query(step(), activity(), "SELECT name, ts_ns - 1800000000000000000 AS ns, dur_ns, pid, tid, device, stream, "
                        + "copy_kind, host_memory, launch_ns - 1800000000000000000 AS launch FROM gpu_memcpy"))
                .isEqualTo("""
                name	ns	dur_ns	pid	tid	device	stream	copy_kind	host_memory	launch
                Memcpy DtoH (Device -> Pinned)	19000000	3000000	100	null	0	7	DtoH	pinned	14000000""");
        assertThat(query(step(), activity(), "SELECT time, count FROM percentiles WHERE kind = 'gpu_kernel' AND name = 'gemm'"))
                .isEqualTo("time\tcount\ngpu\t2");
        assertThat(query(step(), activity(), "SELECT count(*) AS n FROM processes")).isEqualTo("n\n1");
    }

    @Test
    void clocksAreComparedByTheCallsThatBothHold() {
        // The profiler looks 1 to 3 us after the probe did.
        String[] found = clock(0.001, 0.002);
        assertThat(Arrays.copyOfRange(found, 4, 6)).containsExactly("calls", "100");
        assertThat(Long.parseLong(found[6])).isBetween(-3_003_000L, -3_001_000L);
        assertThat(Long.parseLong(found[7])).isBetween(500L, 1_100L);
    }

    @Test
    void clocksAreComparedOnSlowMachinesToo() {
        String[] found = clock(0.005, 0.02);
        assertThat(Arrays.copyOfRange(found, 4, 6)).containsExactly("calls", "100");
        assertThat(Long.parseLong(found[6])).isBetween(-3_020_000L, -3_010_000L);
        assertThat(Long.parseLong(found[7])).isBetween(7_000L, 13_000L);
    }

    @Test
    void clocksAreComparedWhereTheRecordingHasTheDriversCalls() {
        SplittableRandom random = new SplittableRandom(7);
        RecordingFixture fixture = step();
        TraceFixture trace = trace(100).ahead(3).activity("kernel", "gemm", 0, 7, 1, 1);
        double at = 0;
        for (int i = 0; i < 50; i++) {
            at += 0.05 + random.nextDouble();
            fixture.event("cuda_launch", "cuLaunchKernel", at + 0.001, 0.004, "status = 0, depth = 0");
            trace.call("cudaLaunchKernel", at);
            at += 0.05 + random.nextDouble();
            fixture.event("cuda_copy", "cuMemcpyHtoDAsync_v2", at + 0.001, 0.004, "status = 0, depth = 0");
            trace.call("cudaMemcpyAsync", at);
        }
        assertThat(query(fixture, trace, "SELECT clock, matched, shift_ns FROM gpu_traces"))
                .isEqualTo("clock\tmatched\tshift_ns\ncalls\t100\t-2999000");
    }

    @Test
    void callsOfTheRuntimeAndOfTheDriverDoTheSame() {
        assertThat(operations("cudaLaunchKernel", "__cudaLaunchKernel_ptsz", "cuLaunchKernel_ptsz")).containsOnly("LaunchKernel");
        assertThat(operations("cudaLaunchKernelExC", "cuLaunchKernelEx")).containsOnly("LaunchKernelEx");
        assertThat(operations("cudaMemcpyAsync", "cuMemcpyDtoHAsync_v2", "cuMemcpyAsync")).containsOnly("MemcpyAsync");
        assertThat(operations("cudaMemsetAsync", "cuMemsetD8Async")).containsOnly("MemsetAsync");
        assertThat(operations("cudaMalloc", "cuMemAlloc_v2")).containsOnly("Alloc");
        assertThat(operations("cudaFree", "cuMemFree_v2")).containsOnly("Free");
        assertThat(operations("cudaDeviceSynchronize", "cuCtxSynchronize_v2")).containsOnly("DeviceSynchronize");
        assertThat(operations("cudaGraphLaunch", "cuGraphLaunch_ptsz")).containsOnly("GraphLaunch");
    }

    private static List<String> operations(String... names) {
        try (DuckDb duckDb = DuckDb.open(new DatabaseOptions(1, "256MB", Path.of("target")))) {
            return Arrays.stream(names)
                    .map(name -> duckDb.query("SELECT " + GpuTraceClock.operation("'" + name + "'") + " AS name").only())
                    .map(row -> row.requiredText("name"))
                    .toList();
        }
    }

    private String[] clock(double leastMs, double scatterMs) {
        SplittableRandom random = new SplittableRandom(7);
        RecordingFixture fixture = step();
        TraceFixture trace = trace(100).ahead(3).activity("kernel", "gemm", 0, 7, 1, 1);
        double at = 0;
        for (int i = 0; i < 100; i++) {
            at += 0.05 + random.nextDouble();
            fixture.launch("gemm", at, 0.005);
            trace.call("cudaLaunchKernel", at + leastMs + scatterMs * random.nextDouble());
        }
        return query(fixture, trace, "SELECT clock, matched, shift_ns, error_ns FROM gpu_traces").split("[\t\n]", -1);
    }

    @Test
    void launchesInALoopAreNotTakenForTheirNeighbours() {
        SplittableRandom random = new SplittableRandom(7);
        RecordingFixture fixture = step();
        TraceFixture trace = trace(100).ahead(3).activity("kernel", "gemm", 0, 7, 1, 1);
        double at = 0;
        for (int step = 0; step < 30; step++) {
            for (int i = 0; i < 20; i++) {
                fixture.launch("gemm", at + 0.03 * i, 0.005);
                trace.call("cudaLaunchKernel", at + 0.03 * i + 0.001);
            }
            fixture.sync(at + 0.6, 9);
            trace.call("cudaStreamSynchronize", at + 0.601);
            at += 10 + random.nextDouble();
        }
        assertThat(query(fixture, trace, "SELECT clock, shift_ns FROM gpu_traces")).isEqualTo("clock\tshift_ns\ncalls\t-3001000");
    }

    @Test
    void clocksAreTheTimeOfDayWhereCallsAreMissing() {
        assertThat(query(step(), activity(), "SELECT clock, matched, shift_ns, error_ns FROM gpu_traces"))
                .isEqualTo("clock\tmatched\tshift_ns\terror_ns\ntime of day\t0\t0\t10000000");
        RecordingFixture stepped = step().footer("zernel.clock", "{\"error_ns\": 500, \"wall_step_ns\": -20000000}");
        assertThat(query(stepped, activity(), "SELECT error_ns FROM gpu_traces")).isEqualTo("error_ns\n30000500");
    }

    @Test
    void theProcessIsFoundByItsRankWhereItHasAnotherNumber() {
        RecordingFixture fixture = step().footer("zernel.processes", ENVIRONMENT);
        TraceFixture trace = trace(1).members("\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3},")
                .kernel("gemm", 7, 1, 2, 3);
        assertThat(query(fixture, trace, "SELECT pid, rank, activities FROM gpu_traces")).isEqualTo("pid\trank\tactivities\n100\t3\t1");
    }

    @Test
    void aTraceOfNoProcessIsAnError() throws IOException {
        Path run = step().write(folder.resolve("run.parquet"));
        Path trace = Files.writeString(folder.resolve("trace.json"), "{\"traceEvents\":[]}");
        assertThatThrownBy(() -> Recordings.open(run.toString(), trace.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + trace + "': it names no process");
    }

    @Test
    void whatIsKnownAlreadyDoesNotCountTwice() {
        Path run = step().write(folder.resolve("run.parquet"));
        Path trace = activity().write(folder.resolve("trace.json"));
        Path copy = activity().write(folder.resolve("copy.json"));
        assertThatThrownBy(() -> Recordings.open(run.toString(), trace.toString(), copy.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + copy + "': what ran on the GPUs of process 100 at that time is known already");
    }

    @Test
    void aTraceOfAnotherProcessIsAnError() {
        Path run = step().write(folder.resolve("run.parquet"));
        Path trace = trace(4711).kernel("gemm", 7, 1, 2, 3).write(folder.resolve("trace.json"));
        assertThatThrownBy(() -> Recordings.open(run.toString(), trace.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + trace + "': no recording has its process 4711 at that time");
    }

    @Test
    void aTraceOfSeveralProcessesIsRefusedBesideARecording() throws IOException {
        Path run = step().write(folder.resolve("run.parquet"));
        Path trace = trace(100).kernel("gemm", 7, 1, 2, 3).write(folder.resolve("trace.json"));
        String merged = Files.readString(trace).replace("\n]", ",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", "
                + "\"name\": \"cudaLaunchKernel\", \"pid\": 101, \"tid\": 101, \"ts\": 1, \"dur\": 1}\n]");
        Files.writeString(trace, merged);
        assertThatThrownBy(() -> Recordings.open(run.toString(), trace.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + trace + "': it is of 2 processes, and only traces of one join a recording");
    }

    @Test
    void aProcessNumberThatWasUsedAgainIsToldByTime() {
        String early = step().write(folder.resolve("early.parquet")).toString();
        String late = recording().region(NEXT, 5000, 10).write(folder.resolve("late.parquet")).toString();
        String trace = trace(100).kernel("gemm", 7, 5001, 5002, 3).write(folder.resolve("trace.json")).toString();
        try (Database database = Recordings.open(early, late, trace)) {
            assertThat(database.query("SELECT recording FROM gpu_traces").only().integer("recording")).isEqualTo(1);
        }
        assertThatThrownBy(() -> Recordings.open(early, trace))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + trace + "': no recording has its process 100 at that time");
    }

    @Test
    void betweenTwoTracesNobodyLooked() {
        Path run = step().write(folder.resolve("run.parquet"));
        Path first = trace(100).kernel("a", 7, 0, 1, 1).kernel("a", 7, 2, 3, 1).write(folder.resolve("1.json"));
        Path second = trace(100).kernel("a", 7, 20, 21, 1).kernel("b", 7, 22, 22, 1).write(folder.resolve("2.json"));
        try (Database database = Recordings.open(run.toString(), first.toString(), second.toString())) {
            assertThat(database.query("SELECT profiled_ns // 1000000 AS ms, idle_ns // 1000000 AS idle FROM gpu_time").toString())
                    .isEqualTo("ms\tidle\n5\t1");
        }
    }

    @Test
    void whatATraceKnowsIsNoLongerUnknown() {
        RecordingFixture fixture = step().launch("gemm", 12, 0.1).launch("gemm", 22, 0.1).sync(24, 2);
        assertThat(query(fixture, activity(), "SELECT count(*) AS n FROM unknowns")).isEqualTo("n\n0");
        assertThat(query(fixture, trace(100).call("cudaFree", 1), "SELECT count(*) > 0 AS n FROM unknowns")).isEqualTo("n\ntrue");
    }

    @Test
    void boundsOfFindingsGoByTheTraceWhereItIsLongEnough() {
        RecordingFixture fixture = recording().training(6, 15);
        for (int i = 1; i <= 9; i++) {
            fixture.gpuSample("utilization", 30 * i, 90, "%");
        }
        TraceFixture trace = trace(100).kernel("a", 7, 0, 0, 30).kernel("b", 7, 99, 100, 50);
        assertThat(query(fixture, trace, "SELECT device, samples, busy, CAST(idle_ns AS BIGINT) AS ns FROM gpu_busy"))
                .isEqualTo("device\tsamples\tbusy\tns\n0\t0\t0.5333333333333333\t23333333");
        TraceFixture shorter = trace(100).kernel("a", 7, 0, 0, 30).kernel("b", 7, 69, 70, 10);
        assertThat(query(fixture, shorter, "SELECT samples > 0 AS sampled, busy FROM gpu_busy")).isEqualTo("sampled\tbusy\ntrue\t0.9");
    }

    private String query(RecordingFixture recording, TraceFixture trace, String sql) {
        Path run = recording.write(folder.resolve("run.parquet"));
        Path json = trace.write(folder.resolve("trace.json"));
        try (Database database = Recordings.open(run.toString(), json.toString())) {
            return database.query(sql).toString();
        }
    }
}
