package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import java.util.function.ObjDoubleConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Recordings that hold launches and PyTorch's allocator in windows of time.
class DetailWindowsTest {
    private static final double STEP_MS = 40;

    @TempDir
    private Path folder;

    /// The footer's text about windows, in milliseconds.
    private static String detail(double... edges) {
        List<String> windows = new ArrayList<>();
        for (int i = 0; i < edges.length; i += 2) {
            windows.add(String.format(
                    Locale.ROOT,
                    "{\"start_ns\":%d,\"end_ns\":%d,\"reason\":\"turn\",\"complete\":true}",
                    RecordingFixture.START_NS + Math.round(1e6 * edges[i]),
                    RecordingFixture.START_NS + Math.round(1e6 * edges[i + 1])));
        }
        return "{\"asked\":\"auto\",\"recorded\":\"windows\",\"budget\":0.01,\"why\":\"steps get longer\",\"kinds\":[\"cuda_launch\","
                + "\"torch_alloc\",\"torch_free\"],\"windows\":[" + String.join(",", windows) + "]}";
    }

    /// Steps of 40 ms, launches in all of them; as recorded in windows, those outside are no matter.
    private static RecordingFixture launching(int steps) {
        RecordingFixture fixture = RecordingFixture.recording().training(steps, 5);
        for (int i = 0; i < steps; i++) {
            for (int j = 0; j < 4; j++) {
                fixture.launch("gemm", i * STEP_MS + 6 + j, 0.5);
            }
        }
        return fixture;
    }

    private Table query(RecordingFixture fixture, String sql) {
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            return database.query(sql);
        }
    }

    @Test
    void windowsAreThoseOfTheFooter() {
        RecordingFixture fixture = launching(6).footer("zernel.detail", detail(80, 130, 10, 50));
        assertThat(query(fixture, "SELECT number, (start_ns - " + RecordingFixture.START_NS + ") / 1e6 AS ms, dur_ns, reason, "
                        + "complete FROM detail_windows").toString())
                .isEqualTo("""
                        number\tms\tdur_ns\treason\tcomplete
                        1\t10.0\t40000000\tturn\ttrue
                        2\t80.0\t50000000\tturn\ttrue""");
    }

    @Test
    void launchesThatWereOnlyCountedAreKnownOfNoStep() {
        RecordingFixture fixture = RecordingFixture.recording().training(8, 5);
        for (int second = 0; second < 3; second++) {
            fixture.event("cuda_launch", "cuLaunchKernel", second * 100, 80.0, "depth = 0, count = 27");
        }
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            assertThat(database.query("SELECT DISTINCT launches, launch_ns, syncs FROM step_work").toString())
                    .isEqualTo("launches\tlaunch_ns\tsyncs\nnull\tnull\t0");
            assertThat(Diagnosis.of(database).skippedText()).isEmpty();
        }
    }

    @Test
    void aStepIsDetailedThatLiesInOneWindow() {
        RecordingFixture fixture = launching(6).footer("zernel.detail", detail(30, 90, 100, 160));
        assertThat(query(fixture, "SELECT step, detailed, round(detail_share, 3) AS share FROM steps").toString())
                .isEqualTo("""
                        step\tdetailed\tshare
                        1\tfalse\t0.25
                        2\ttrue\t1.0
                        3\tfalse\t0.75
                        4\ttrue\t1.0
                        5\tfalse\t0.0
                        6\tfalse\t0.0""");
    }

    @Test
    void withoutWindowsAllStepsAreDetailed() {
        String always = "{\"asked\":\"all\",\"recorded\":\"all\",\"kinds\":[\"cuda_launch\"],\"windows\":null}";
        RecordingFixture fixture = launching(2).footer("zernel.detail", always);
        assertThat(query(fixture, "SELECT step, detailed, detail_share FROM steps").toString())
                .isEqualTo("step\tdetailed\tdetail_share\n1\ttrue\t1.0\n2\ttrue\t1.0");
    }

    @Test
    void withNoWindowYetNoStepIsDetailed() {
        RecordingFixture fixture = launching(2).footer("zernel.detail", detail());
        assertThat(query(fixture, "SELECT step, detailed, detail_share, launches FROM steps JOIN step_work USING (recording, "
                        + "pid, tid, step, detailed, detail_share)").toString())
                .isEqualTo("step\tdetailed\tdetail_share\tlaunches\n1\tfalse\t0.0\tnull\n2\tfalse\t0.0\tnull");
    }

    @Test
    void launchesOfAStepAreKnownWhereItIsDetailed() {
        RecordingFixture fixture = launching(6).footer("zernel.detail", detail(30, 90, 100, 160));
        assertThat(query(fixture, "SELECT step, launches, launch_ns, graph_launches FROM step_work").toString())
                .isEqualTo("""
                        step\tlaunches\tlaunch_ns\tgraph_launches
                        1\tnull\tnull\t0
                        2\t4\t2000000\t0
                        3\tnull\tnull\t0
                        4\t4\t2000000\t0
                        5\tnull\tnull\t0
                        6\tnull\tnull\t0""");
    }

    @Test
    void launchesOfAllStepsAreThoseOfDetailedStepsTimesTheirNumber() {
        RecordingFixture fixture = launching(20).launch("rare", 45, 0.5).footer("zernel.detail", detail(30, 90, 95, 215));
        assertThat(query(fixture, "SELECT kernel, launches, per_step, all_launches, least_launches, most_launches FROM launches")
                        .toString())
                .isEqualTo("""
                        kernel\tlaunches\tper_step\tall_launches\tleast_launches\tmost_launches
                        gemm\t20\t4.0\t80\t80\t80
                        rare\t1\t0.3333333333333333\t7\t1\t31""");
    }

    /// What warms up launches much that no later step does: it counts as it was recorded.
    @Test
    void launchesOfWarmUpStandForNoOtherStep() {
        RecordingFixture fixture = launching(20).footer("zernel.detail", detail(0, 85, 95, 215));
        for (int i = 0; i < 100; i++) {
            fixture.launch("gemm", 12 + 0.1 * i, 0.05);
        }
        // Detailed: the warm-up with its 104, and three steps of four; sixteen without all of their detail.
        assertThat(query(fixture, "SELECT kernel, launches, per_step, all_launches, least_launches, most_launches FROM launches")
                        .toString())
                .isEqualTo("""
                        kernel\tlaunches\tper_step\tall_launches\tleast_launches\tmost_launches
                        gemm\t120\t4.0\t180\t180\t180""");
    }

    @Test
    void aKindInWindowsSaysInWhatShareOfTheTime() {
        RecordingFixture fixture = launching(6)
                .footer("zernel.kinds", "[{\"kind\":\"cuda_launch\",\"state\":\"attached\",\"why\":null,\"events\":10}]")
                .footer("zernel.detail", detail(30, 90, 100, 160));
        assertThat(query(fixture, "SELECT kind, why, round(time_share, 4) AS time_share FROM kinds WHERE kind IN ('cuda_launch', 'region')").toString())
                .isEqualTo("""
                        kind\twhy\ttime_share
                        cuda_launch\tin 2 windows, 1.2 % of the recording\t0.012
                        region\tnull\t1.0""");
        assertThat(query(fixture, "SELECT DISTINCT kind, round(time_share, 4) AS time_share FROM percentiles WHERE kind IN ('cuda_launch', 'region') "
                        + "ORDER BY kind").toString())
                .isEqualTo("kind\ttime_share\ncuda_launch\t0.012\nregion\t1.0");
        assertThat(query(fixture, "SELECT DISTINCT kind, round(time_share, 4) AS time_share FROM process_percentiles WHERE kind = 'cuda_launch'").toString())
                .isEqualTo("kind\ttime_share\ncuda_launch\t0.012");
    }

    /// Twelve kernels in each of 40 steps of 20 ms, and nothing else, but what `once` adds to a step.
    private static RecordingFixture kernels(ObjDoubleConsumer<RecordingFixture> once) {
        RecordingFixture fixture = RecordingFixture.recording();
        for (int i = 0; i < 40; i++) {
            once.accept(fixture, 20.0 * i);
            for (int j = 0; j < 12; j++) {
                boolean recorded = (i >= 5 && i < 17) || (i >= 25 && i < 37);
                if (recorded) {
                    fixture.event("cuda_launch", "cuLaunchKernel", 20 * i + 1 + j, 0.5, "kernel = 'k" + j + "', depth = 0");
                }
            }
        }
        return fixture.footer("zernel.detail", detail(100, 340, 500, 740));
    }

    @Test
    void noStepThatLaunchesTellSpansTheTimeBetweenWindows() {
        assertThat(query(kernels((_, _) -> {}), "SELECT count(*) AS steps, min(dur_ns) AS least_ns, max(dur_ns) AS most_ns FROM steps")
                        .toString())
                .isEqualTo("steps\tleast_ns\tmost_ns\n22\t20000000\t20000000");
    }

    @Test
    void whatComesOnceAStepInWindowsTellsStepsOutsideToo() {
        RecordingFixture fixture = kernels((recording, at) -> recording.copy("HtoD", "pinned", at, 0.4, 1 << 20));
        assertThat(query(fixture, "SELECT count(*) AS steps, min(dur_ns) AS least_ns, max(dur_ns) AS most_ns, "
                        + "count(*) FILTER (WHERE detailed) AS detailed FROM steps WHERE step < 40").toString())
                .isEqualTo("steps\tleast_ns\tmost_ns\tdetailed\n39\t20000000\t20000000\t24");
    }

    @Test
    void aRecordingSaysWhatItHoldsOfItsDetailAndWhy() {
        assertThat(query(launching(6).footer("zernel.detail", detail(30, 90, 100, 160)), "SELECT asked, recorded, why, windows, "
                        + "round(time_share, 4) AS time_share FROM detail").toString())
                .isEqualTo("asked\trecorded\twhy\twindows\ttime_share\nauto\twindows\tsteps get longer\t2\t0.012");
    }

    /// A training whose device memory grows by 10 MB in each step, with two pieces handed out and so many given back.
    private List<Finding> growing(int givenBack) {
        RecordingFixture fixture = RecordingFixture.recording().training(40, 5);
        for (int i = 0; i < 40; i++) {
            fixture.gpuAlloc(i * STEP_MS + 6, 0.1, 10_000_000, 0);
            for (int j = 0; i >= 20 && i < 26 && j < 2; j++) {
                fixture.torchAlloc(i * STEP_MS + 7 + j, 5_000_000);
                if (j < givenBack) {
                    fixture.torchFree(i * STEP_MS + 10 + j, 5_000_000);
                }
            }
        }
        return fixture.footer("zernel.detail", detail(800, 1040)).findings("memory_growth", folder);
    }

    @Test
    void deviceMemoryThatGrowsIsALeakWherePiecesAreKept() {
        assertThat(growing(1)).hasSize(1);
        assertThat(growing(2)).isEmpty();
    }

    /// Each step hands out 25 MB that it keeps for as many steps. The driver is asked for 1 GB at once, `asked` steps after each other.
    private RecordingFixture hoarding(int keptFor, int... asked) {
        RecordingFixture fixture = RecordingFixture.recording().training(40, 5);
        for (int step : asked) {
            fixture.gpuAlloc(step * STEP_MS + 6, 0.1, 1_000_000_000, 0);
        }
        for (int i = 0; i < 40; i++) {
            String piece = "device = 0, bytes = 25000000, addr = ";
            fixture.event("torch_alloc", "pytorch:malloc", i * STEP_MS + 7, null, piece + (1 + i))
                    .event("torch_alloc", "pytorch:malloc", i * STEP_MS + 8, null, "device = 0, bytes = 70000000, addr = 1000")
                    .event("torch_free", "pytorch:free", i * STEP_MS + 9, null, "device = 0, bytes = 70000000, addr = 1000");
            if (i >= keptFor) {
                fixture.event("torch_free", "pytorch:free", i * STEP_MS + 10, null, piece + (1 + i - keptFor));
            }
        }
        return fixture.footer("zernel.detail", detail(840, 980, 1120, 1260, 1420, 1560))
                .gpuSample("memory_used", 1000, 5_000_000_000L, "bytes")
                .gpuSample("memory_used", 2000, 500_000_000L, "bytes") // the job has ended
                .footer("zernel.gpus", "{\"devices\":[{\"index\":0,\"memory_total\":80000000000}]}");
    }

    @Test
    void whatStepsKeepIsALeakAlsoWhereTheDriverIsSeldomAskedForMore() {
        Finding finding = hoarding(100, 1, 2, 30).finding("memory_growth", folder);
        assertThat(finding.subject()).isEqualTo("pid 100 device 0");
        assertThat(finding.value()).isEqualTo(25.0);
        assertThat(finding.unit()).isEqualTo("MB per step");
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence()).isEqualTo("PyTorch keeps 25.0 MB of each of 9 detailed steps of the last 20, in which device "
                + "memory rose from 2.00 GB to 3.00 GB; the GPU is full in about 3000 steps");
    }

    @Test
    void whatIsGivenBackStepsLaterIsNoLeakNorIsWhatTheDriverHadGivenAlready() {
        assertThat(hoarding(2, 1, 2, 30).findings("memory_growth", folder)).isEmpty();
        assertThat(hoarding(100, 1, 2, 3).findings("memory_growth", folder)).isEmpty();
    }

    @Test
    void memoryOfAWindowIsWhatTheWindowHandedOut() {
        RecordingFixture fixture = RecordingFixture.recording()
                .event("torch_alloc", "pytorch:malloc", 5, null, "device = 0, bytes = 4096, addr = 1")
                .event("torch_alloc", "pytorch:malloc", 12, null, "device = 0, bytes = 1000, addr = 2")
                .event("torch_free", "pytorch:free", 13, null, "device = NULL, bytes = NULL, addr = 1")
                .event("torch_alloc", "pytorch:malloc", 14, null, "device = 0, bytes = 500, addr = 3")
                .event("torch_free", "pytorch:free", 15, null, "device = 0, bytes = 1000, addr = 2")
                .event("torch_alloc", "pytorch:malloc", 21, null, "device = 0, bytes = 70, addr = 2")
                .footer("zernel.detail", detail(10, 20));
        assertThat(query(fixture, "SELECT number, device, allocs, frees, handed_out_bytes, peak_bytes, left_bytes "
                        + "FROM torch_memory_windows").toString())
                .isEqualTo("""
                        number\tdevice\tallocs\tfrees\thanded_out_bytes\tpeak_bytes\tleft_bytes
                        1\t0\t2\t1\t1500\t1500\t500
                        1\tnull\t0\t1\tnull\tnull\tnull""");
        assertThat(query(fixture, "FROM torch_memory").rows()).isEmpty();
        assertThat(query(fixture, "SELECT torch_peak_bytes FROM memory_use").rows()).isEmpty();
    }

    /// A training whose steps last what is said of each, with windows of five steps in each forty.
    private static RecordingFixture paying(int steps, IntToDoubleFunction millis) {
        return paying(steps, 40, "steps get longer", millis);
    }

    /// @param why what the recorder says of what it measured
    private static RecordingFixture paying(int steps, int every, String why, IntToDoubleFunction millis) {
        RecordingFixture fixture = RecordingFixture.recording();
        List<Double> edges = new ArrayList<>();
        double at = 0;
        for (int i = 0; i < steps; i++) {
            if (i % every == 20 || i % every == 25) {
                edges.add(at - 1);
            }
            double length = millis.applyAsDouble(i);
            fixture.region(RecordingFixture.NEXT, at, 2).backward(at + 3, length - 10).region(RecordingFixture.STEP, at + length - 5, 5);
            at += length;
        }
        // Each window ends after the step before, so that five are in it.
        for (int i = 1; i < edges.size(); i += 2) {
            edges.set(i, edges.get(i) + 2);
        }
        String detail = detail(edges.stream().mapToDouble(Double::doubleValue).toArray());
        return fixture.footer("zernel.detail", detail.replace("steps get longer", why));
    }

    private static boolean detailed(int step) {
        return step % 40 >= 20 && step % 40 < 25;
    }

    @Test
    void theCostIsWhatStepsWithDetailTakeLongerThanThoseBesideThem() {
        Random random = new Random(7);
        // The job gets 60 % slower while it runs, and one step in fifty takes ten times as long.
        RecordingFixture fixture = paying(400, i -> 20
                * (1 + 0.0015 * i)
                * (detailed(i) ? 1.18 : 1)
                * (1 + 0.02 * random.nextGaussian())
                * (i % 50 == 22 ? 10 : 1));
        Table.Row cost = query(fixture, "FROM detail_cost").only();
        assertThat(cost.text("method")).isEqualTo("measured");
        assertThat(cost.integer("windows")).isEqualTo(10);
        assertThat(cost.integer("detailed_steps")).isEqualTo(50);
        assertThat(cost.real("effect")).isCloseTo(0.18, within(0.02));
        assertThat(cost.real("least_effect")).isBetween(0.13, 0.18);
        assertThat(cost.real("most_effect")).isBetween(0.18, 0.23);
        assertThat(cost.text("text")).matches("detail made a step 1\\d % longer \\(\\d\\d\\.\\d ms to \\d\\d\\.\\d ms, 50 against 3\\d\\d "
                + "steps, 95 %: 1\\d\\.\\.\\d\\d %\\) and was on for \\d+(\\.\\d)? % of the time of steps: the job lost [12]\\.\\d %");
    }

    /// The CPU launches the ten steps of a cycle, each 20 ms of the GPU, in 12 ms each, 15 with detail, and waits in the last.
    @Test
    void whatOnlyMakesAWaitForTheGpuShorterCostsNothing() {
        double[] spent = new double[1];
        Table.Row cost = query(
                        paying(1290, 43, "steps get longer", i -> {
                            double length = i % 10 == 9 ? 200 - spent[0] : i % 43 >= 20 && i % 43 < 25 ? 15 : 12;
                            spent[0] = i % 10 == 9 ? 0 : spent[0] + length;
                            return length;
                        }),
                        "FROM detail_cost")
                .only();
        assertThat(cost.real("effect")).isCloseTo(0, within(0.08));
        assertThat(cost.real("least_effect")).isNegative();
        assertThat(cost.real("most_effect")).isPositive();
    }

    @Test
    void aCostThatDoesNotShowIsGivenAsABound() {
        Random random = new Random(8);
        Table.Row cost = query(paying(400, _ -> 20 * (1 + 0.02 * random.nextGaussian())), "FROM detail_cost").only();
        assertThat(cost.real("least_effect")).isNegative();
        assertThat(cost.real("most_effect")).isPositive().isLessThan(0.03);
        assertThat(cost.text("text")).startsWith("detail made no measurable difference to a step (").contains("the job lost at most 0.");
    }

    @Test
    void twoWindowsTellNoCost() {
        Table.Row cost = query(paying(80, i -> detailed(i) ? 24 : 20), "FROM detail_cost").only();
        assertThat(cost.text("method")).isEqualTo("too few windows");
        assertThat(cost.text("text"))
                .isEqualTo("detail was on for 15 % of the time of steps, in too few windows to tell what it cost: 10 steps with it "
                        + "(median 24.0 ms), 65 without (20.0 ms)");
    }

    @Test
    void aCostThatVariesTooMuchIsSaidToBeUnclear() {
        Table.Row cost = query(paying(160, i -> detailed(i) ? i < 60 ? 18 : 26 : 20), "FROM detail_cost").only();
        assertThat(cost.real("least_effect")).isLessThan(-0.05);
        assertThat(cost.real("most_effect")).isGreaterThan(0.05);
        assertThat(cost.text("text"))
                .matches("what detail cost a step could not be told, from [0-9.]+ % shorter to \\d+ % longer \\(.*\\) and was on for "
                        + "\\d+ % of the time of steps: the job lost at most .*");
    }

    @Test
    void theCostIsTheOneThatTheRecorderMeasuredWhereThatRestsOnMoreTurns() {
        String why = "detail makes a step 23.0 % longer (95 %: 1.1 to 49.7 %, 9 turns)";
        Table.Row cost = query(paying(160, 40, why, i -> detailed(i) ? i < 60 ? 18 : 26 : 20), "FROM detail_cost").only();
        assertThat(cost.text("method")).isEqualTo("measured by the recorder");
        assertThat(cost.real("effect")).isCloseTo(0.23, within(1e-9));
        assertThat(cost.text("text"))
                .startsWith("detail made a step 23 % longer (20.0 ms to 24.6 ms, 9 turns of the recorder, 95 %: 1.1..50 %) and was on for ");
    }

    @Test
    void aPredictedCostIsAShareOfTrainSteps() {
        // 40 launches of 1 ms each would be 40 ms of 400 ms in steps; the recording is 10 s long.
        RecordingFixture fixture = launching(10).footer(
                "zernel.overhead",
                "{\"cost_ns_per_hit\":1000000,\"method\":\"measured\",\"hits\":40,\"cpu_ns_total\":40000000,\"share\":0.004,"
                        + "\"processes\":[{\"pid\":100,\"events\":40,\"share\":0.004}]}");
        Table.Row cost = query(fixture, "FROM detail_cost").only();
        assertThat(cost.text("method")).isEqualTo("predicted");
        assertThat(cost.real("lost_share")).isCloseTo(0.1, within(1e-6));
        assertThat(cost.text("text")).isEqualTo("predicted to cost at least 10 % of the time of a step");
    }

    /// 40 launches of 1 us are 40 us of 400 ms.
    @Test
    void aPredictedCostThatRoundsToNothingIsSaidToBeLessThanWhatIsShown() {
        RecordingFixture fixture = launching(10).footer(
                "zernel.overhead",
                "{\"cost_ns_per_hit\":1000,\"method\":\"measured\",\"hits\":40,\"cpu_ns_total\":40000,\"share\":0.000004,"
                        + "\"processes\":[{\"pid\":100,\"events\":40,\"share\":0.000004}]}");
        assertThat(query(fixture, "FROM detail_cost").only().text("text")).isEqualTo("less than 0.1 % of the time of a step");
    }

    @Test
    void theCpuThatTheRecorderTookFromTheTrainingThreadIsPartOfTheCost() {
        // The recorder, process 900, has the thread's CPU for 2 ms in each step of 40 ms.
        RecordingFixture fixture = launching(10)
                .footer("zernel.recording", "{\"complete\":true,\"cpus\":2,\"recorder_pid\":900}")
                .footer(
                        "zernel.overhead",
                        "{\"cost_ns_per_hit\":1000,\"method\":\"measured\",\"hits\":40,\"cpu_ns_total\":40000,"
                                + "\"share\":0.0,\"processes\":[]}");
        for (int i = 0; i < 10; i++) {
            fixture.event("sched", "off-cpu", i * 40 + 30, 2.0,
                    "state = 'preempted', runq_ns = 2000000, other_pid = 900, other_comm = 'zernel-drain'");
        }
        Table.Row cost = query(fixture, "FROM detail_cost").only();
        assertThat(cost.real("cpu_share")).isCloseTo(0.05, within(1e-6));
        assertThat(cost.text("text"))
                .endsWith("; the recorder had the CPU of the training thread for 5.0 % of the time");
    }

    private static String priced(String systemCalls) {
        return "{\"cost_ns_per_hit\":1000000,\"method\":\"measured\",\"hits\":40,\"cpu_ns_total\":40000000,\"share\":0.004,"
                + "\"processes\":[{\"pid\":100,\"events\":40,\"share\":0.004}]" + systemCalls + "}";
    }

    /// Of 400 ms in ten steps, 100 reads by the training thread, five by another thread and one that io_uring made.
    private static RecordingFixture reading() {
        RecordingFixture fixture = launching(10);
        for (int i = 0; i < 100; i++) {
            fixture.io(i * 4 + 0.5, 0.001, 100);
        }
        fixture.event("io", "io_uring_read", 3, 0.1, "bytes = 4096").on(100, 177, "other");
        for (int i = 0; i < 5; i++) {
            fixture.io(i * 4 + 1, 0.001, 100);
        }
        return fixture.on(100, 100, "python3");
    }

    @Test
    void whatSystemCallsCostIsPartOfThePrediction() {
        // In the nine steps between ten ends 90 x 200 us = 18 ms of the thread, beside a tenth for its launches.
        RecordingFixture fixture = reading().footer(
                "zernel.overhead",
                priced(",\"system_calls\":{\"cost_ns\":200000.4,\"skipped_cost_ns\":100000,\"other_cost_ns\":50000,"
                        + "\"method\":\"by hand\",\"hits\":135,\"skipped\":30}"));
        Table.Row calls = query(fixture, "FROM system_call_cost").only();
        assertThat(calls.integer("calls")).isEqualTo(105);
        assertThat(calls.integer("step_calls")).isEqualTo(90);
        assertThat(calls.integer("skipped")).isEqualTo(30);
        assertThat(calls.integer("cost_ns")).isEqualTo(200_000);
        assertThat(calls.integer("cpu_ns")).isEqualTo(24_000_042);
        assertThat(calls.real("step_share")).isCloseTo(0.05, within(1e-6));
        Table.Row cost = query(fixture, "FROM detail_cost").only();
        assertThat(cost.real("lost_share")).isCloseTo(0.15, within(1e-6));
        assertThat(cost.text("text")).isEqualTo("predicted to cost at least 15 % of the time of a step");
    }

    /// A worker's reads make steps longer that wait for it, and none of the training thread's own calls longer.
    @Test
    void whatSystemCallsCostAThreadThatStepsMayWaitForIsSaidBeside() {
        RecordingFixture fixture = reading().on(300, 300, "pt_data_worker");
        for (int i = 0; i < 180; i++) {
            fixture.io(40 + 2 * i, 0.001, 100);
        }
        fixture.io(9000, 0.001, 100).on(100, 100, "python3").footer(
                "zernel.overhead",
                priced(",\"system_calls\":{\"cost_ns\":200000,\"skipped_cost_ns\":100000,\"other_cost_ns\":50000,"
                        + "\"method\":\"by hand\",\"hits\":285,\"skipped\":0}"));
        Table.Row calls = query(fixture, "FROM system_call_cost").only();
        assertThat(calls.integer("other_tid")).isEqualTo(300);
        assertThat(calls.integer("other_tid_calls")).isEqualTo(180);
        assertThat(calls.real("other_tid_share")).isCloseTo(0.1, within(1e-6)); // 36 of 360 ms
        assertThat(query(fixture, "FROM detail_cost").only().text("text"))
                .isEqualTo("predicted to cost at least 15 % of the time of a step; the 180 system calls of thread 300, which trains "
                        + "no model, are predicted to cost it at least 10 % of its time");
    }

    @Test
    void systemCallsWhoseCostIsNotKnownAreNotPartOfThePrediction() {
        RecordingFixture few = reading().footer("zernel.overhead", priced(""));
        assertThat(query(few, "FROM detail_cost").only().text("text"))
                .isEqualTo("predicted to cost at least 10 % of the time of a step");
        RecordingFixture many = reading();
        for (int i = 0; i < 400; i++) {
            many.io(i + 0.25, 0.001, 100);
        }
        many.footer(
                "zernel.overhead",
                priced(",\"system_calls\":{\"cost_ns\":null,\"skipped_cost_ns\":null,\"other_cost_ns\":null,"
                        + "\"method\":\"no machine\",\"hits\":505,\"skipped\":0}"));
        assertThat(query(many, "FROM detail_cost").only().text("text"))
                .isEqualTo("predicted to cost at least 10 % of the time of a step without its 505 system calls, whose cost was not "
                        + "measured");
    }

    @Test
    void whatSystemCallsCostIsSaidBesideWhatDetailCosts() {
        RecordingFixture fixture = paying(160, 40, "", i -> detailed(i) ? 26 : 20);
        for (int i = 0; i < 200; i++) {
            fixture.io(i * 4 + 0.5, 0.001, 100);
        }
        fixture.footer(
                "zernel.overhead",
                priced(",\"system_calls\":{\"cost_ns\":200000,\"skipped_cost_ns\":100000,\"other_cost_ns\":50000,"
                        + "\"method\":\"by hand\",\"hits\":200,\"skipped\":0}"));
        assertThat(query(fixture, "FROM detail_cost").only().text("text"))
                .startsWith("detail made a step ")
                .contains("; its system calls, with and without detail, are predicted to cost at least ");
    }
}
