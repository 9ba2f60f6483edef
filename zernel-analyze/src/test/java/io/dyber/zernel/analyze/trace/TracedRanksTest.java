package io.dyber.zernel.analyze.trace;

import static io.dyber.zernel.analyze.TraceFixture.trace;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Traces of several ranks of a job, opened together without a recording.
public class TracedRanksTest {
    @TempDir
    Path folder;

    /// Ranks of data parallel training whose GPUs compute and then exchange gradients until the last one has come.
    ///
    /// @param computes milliseconds of each rank in a step of 20 ms
    /// @param kernels of each rank that this takes
    /// @param waits milliseconds of each rank for data in a step
    private static TraceFixture[] dataParallel(double[] computes, int[] kernels, double[] waits) {
        TraceFixture[] ranks = new TraceFixture[computes.length];
        for (int rank = 0; rank < ranks.length; rank++) {
            long pid = 100L + rank;
            ranks[rank] = trace(pid).members(
                    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + rank + ", \"world_size\": " + ranks.length + "},");
            for (int step = 0; step < 6; step++) {
                double at = step * 20;
                ranks[rank].range("ProfilerStep#" + step, pid, at, 20);
                if (waits[rank] > 0) {
                    ranks[rank].range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", pid, at, waits[rank]);
                }
                double end = at + waits[rank];
                for (int kernel = 0; kernel < kernels[rank]; kernel++) {
                    double lasts = computes[rank] / kernels[rank];
                    ranks[rank].kernel("gemm", 7, at + waits[rank], end + 0.01, lasts);
                    end += lasts;
                }
                ranks[rank].kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, end - 0.1, end + 0.01, at + 19.5 - end);
            }
        }
        return ranks;
    }

    private Finding lateGpu(double[] computes, int[] kernels, double[] waits) {
        try (Database database = open(dataParallel(computes, kernels, waits))) {
            return database.diagnose("late_gpu").getFirst();
        }
    }

    @Test
    void lateGpuFiresForTheRankWhoseCollectivesEndFirst() {
        Finding finding = lateGpu(new double[] {10, 10, 16}, new int[] {20, 20, 20}, new double[3]);
        assertThat(finding.subject()).isEqualTo("rank 2 (recording 2 pid 102)");
        assertThat(finding.lostMillisPerStep()).isEqualTo(6.0);
        assertThat(finding.evidence())
                .startsWith("its GPU communicates least in 6 of 6 steps: 3.5 ms of 20.0 ms, that of each other rank 6.0 ms or more longer "
                        + "with no computation meanwhile, as it waits; it computes 6.0 ms longer than the others, in as many kernels "
                        + "(20 a step); saves at most 6.0 ms: ");
        assertThat(finding.advice()).startsWith("compare clocks, power and cooling of its GPU");
    }

    @Test
    void lateGpuFiresWithWhatTheRankDoesLonger() {
        Finding more = lateGpu(new double[] {10, 10, 16}, new int[] {20, 20, 32}, new double[3]);
        assertThat(more.evidence()).contains("it computes 6.0 ms longer than the others, in 32 kernels a step, the others in 20;");
        assertThat(more.advice()).isEqualTo("look at what this rank computes more: longer sequences, uneven shards");
        Finding data = lateGpu(new double[] {10, 10, 10}, new int[] {20, 20, 20}, new double[] {0, 0, 6});
        assertThat(data.evidence()).contains("; it waits 6.0 ms longer for data than the others;");
        assertThat(data.advice()).isEqualTo("look at the input of this rank: its shard, its storage, its workers");
    }

    @Test
    void lateGpuFiresWithNothingSavedForSureWhereRanksAreNotOpened() {
        TraceFixture[] ranks = dataParallel(new double[] {10, 10, 16}, new int[] {20, 20, 20}, new double[3]);
        try (Database database = open(ranks[1], ranks[2])) {
            Finding finding = database.diagnose("late_gpu").getFirst();
            assertThat(finding.subject()).isEqualTo("rank 2 (recording 1 pid 102)");
            assertThat(finding.evidence()).contains("; 2 of 3 ranks are opened, another may be as late;");
            assertThat(finding.leastLostMillisPerStep()).isEqualTo(0.0);
        }
    }

    @Test
    void lateGpuIsSilentWhereRanksComeTogether() {
        try (Database database = open(dataParallel(new double[] {10, 10.2, 10.1}, new int[] {20, 20, 20}, new double[3]))) {
            assertThat(database.query("SELECT count(*) AS ranks FROM late_gpus").only().integer("ranks")).isEqualTo(3);
            assertThat(database.diagnose("late_gpu")).isEmpty();
        }
    }

    /// Each is late in half of the steps.
    @Test
    void lateGpuIsSilentWhereRanksTakeTurnsAndWhereATraceEndsInAStep() {
        TraceFixture[] ranks = new TraceFixture[2];
        for (int rank = 0; rank < 2; rank++) {
            long pid = 100L + rank;
            ranks[rank] = trace(pid);
            for (int step = 0; step < 8; step++) {
                double at = step * 20;
                double lasts = step % 2 == rank ? 14 : 10;
                ranks[rank].range("ProfilerStep#" + step, pid, at, 20).kernel("gemm", 7, at, at + 0.01, lasts);
                if (step < 7 || rank == 1) {
                    ranks[rank].kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, at + lasts - 1, at + lasts + 0.01, 19.5 - lasts);
                }
            }
        }
        try (Database database = open(ranks)) {
            assertThat(database.query("SELECT steps || ' ' || times_late || ' ' || times AS late FROM late_gpus").texts("late"))
                    .containsExactly("7 4 7", "7 3 7");
            assertThat(database.diagnose("late_gpu")).isEmpty();
        }
    }

    @Test
    void slowStepsFiresForTheRankWhoseSlowStepIsNoWait() {
        TraceFixture[] ranks = new TraceFixture[2];
        for (int rank = 0; rank < 2; rank++) {
            long pid = 100L + rank;
            ranks[rank] = trace(pid);
            double at = 0;
            for (int step = 0; step < 12; step++) {
                double lasts = step == 6 ? 220 : 20;
                ranks[rank].range("ProfilerStep#" + step, pid, at, lasts).range("nccl:all_reduce", pid, at + 0.1, 0.1);
                ranks[rank].kernel("gemm", 7, at + 0.3, at + 0.4, 10).call("cudaDeviceSynchronize", at + 1, rank == 0 ? lasts - 2 : 10);
                at += lasts;
            }
        }
        try (Database database = open(ranks)) {
            Finding finding = database.diagnose("slow_steps").getFirst();
            assertThat(finding.subject()).isEqualTo("recording 1 pid 101 and 1 more");
            assertThat(finding.lostMillisPerStep()).isEqualTo(16.667);
        }
    }

    /// Three stages, the second of which computes for 12 ms of a step of 20, the others for 6; their receives run all the time.
    private static TraceFixture[] pipeline(double slowMs, String sends) {
        TraceFixture[] stages = new TraceFixture[3];
        for (int stage = 0; stage < 3; stage++) {
            stages[stage] = trace(100L + stage);
            double lasts = stage == 1 ? slowMs : 6;
            for (int step = 0; step < 6; step++) {
                double at = step * 20;
                stages[stage].range("ProfilerStep#" + step, 100L + stage, at, 20);
                stages[stage].kernel("gemm", 7, at + 0.1, at + 0.2 + 2 * stage, lasts);
                stages[stage].range(sends + " 0->1", 100L + stage, at + 0.3, 0.1);
                stages[stage].kernel("ncclDevKernel_SendRecv", 20, at + 0.1, at + 0.2, 19.6);
            }
        }
        return stages;
    }

    @Test
    void lateGpuFiresForTheSlowStageOfAPipeline() {
        try (Database database = open(pipeline(12, "nccl:send"))) {
            Finding finding = database.diagnose("late_gpu").getFirst();
            assertThat(finding.subject()).isEqualTo("recording 1 pid 101");
            assertThat(finding.lostMillisPerStep()).isEqualTo(6.0);
            assertThat(finding.evidence())
                    .startsWith("its GPU communicates without computation least in 6 of 6 steps: 7.6 ms of 20.0 ms, that of each "
                            + "other rank 6.0 ms or more longer, as it waits; it computes 6.0 ms longer than the others, in as "
                            + "many kernels (1 a step); ");
            assertThat(finding.advice()).startsWith("move layers from this stage of the pipeline to others");
        }
    }

    @Test
    void lateGpuIsSilentForStagesOfAPipelineThatTakeAsLong() {
        try (Database database = open(pipeline(6, "nccl:send"))) {
            assertThat(database.diagnose("late_gpu")).isEmpty();
        }
    }

    @Test
    void exchangesOfAllWithAllAreNoPipeline() {
        TraceFixture[] ranks = pipeline(12, "nccl:coalesced");
        for (int rank = 0; rank < 3; rank++) {
            ranks[rank].range("nccl:all_to_all", 100L + rank, 0.2, 0.1);
        }
        try (Database database = open(ranks)) {
            assertThat(database.query("SELECT DISTINCT is_pipeline FROM late_gpus").texts("is_pipeline")).containsExactly("false");
        }
    }

    /// Steps of 60 ms of a rank on CPUs with gloo, which sends so many tensors one after the other, each for 1 ms.
    private static TraceFixture sending(int rank, int tensors) {
        long pid = 100L + rank;
        TraceFixture trace = trace(pid).members("\"distributedInfo\": {\"backend\": \"gloo\", \"rank\": " + rank + ", \"world_size\": 2},");
        for (int step = 0; step < 12; step++) {
            double at = step * 60;
            trace.range("ProfilerStep#" + step, pid, at, 60).operator("aten::linear", pid, at, 4);
            for (int tensor = 0; tensor < tensors; tensor++) {
                double from = at + 5 + tensor * 1.2;
                trace.operator("aten::div_", pid, from, 0.1).range("gloo:all_reduce", 200 + rank, from + 0.1, 1);
            }
            trace.operator("aten::add_", pid, at + 57, 2);
        }
        return trace;
    }

    @Test
    void smallCollectivesFiresForATraceOfGlooThatSendsEachTensorAlone() {
        try (Database database = open(sending(0, 40), sending(1, 40))) {
            Finding finding = database.diagnose("small_collectives").getFirst();
            assertThat(finding.value()).isEqualTo(40.0);
            assertThat(finding.evidence()).startsWith("mean of 12 steps: 40 waits for a collective, one after the other, take 40.0 ms; "
                    + "one would do, and even the shortest takes 1.0 ms; ");
        }
    }

    /// Steps of 40 ms with a kernel of 10 ms, then so many all-reduces of 20 us each, whose calls take 0.4 ms.
    private static TraceFixture sendingOnGpu(int tensors, String arguments) {
        TraceFixture trace = trace(100);
        for (int step = 0; step < 3; step++) {
            double at = step * 40;
            trace.range("ProfilerStep#" + step, 100, at, 40).kernel("gemm", 7, at, at + 0.1, 10);
            for (int tensor = 0; tensor < tensors; tensor++) {
                double from = at + 11 + tensor * 0.5;
                trace.range("nccl:all_reduce", 100, from, 0.4).call("cudaLaunchKernelExC", from + 0.2);
                trace.collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL", from + 0.45, 0.02, arguments);
            }
        }
        return trace;
    }

    @Test
    void smallCollectivesFiresForATraceOfAGpuWithTheirBytesWhereItTellsThem() {
        try (Database database = open(sendingOnGpu(50, "\"In msg nelems\": 1024, \"Out msg nelems\": 4096, \"dtype\": \"BFloat16\""))) {
            Finding finding = database.diagnose("small_collectives").getFirst();
            assertThat(finding.evidence()).startsWith("mean of 3 steps: 50 of 50 collectives are below 4 MiB, median 8.0 KiB; 1 would "
                    + "do; the calls take 20.0 ms, and the shortest 20 us on the GPU; ");
            assertThat(finding.lostMillisPerStep()).isEqualTo(19.6); // 49 of 0.4 ms
        }
        try (Database database = open(sendingOnGpu(50, "\"In msg nelems\": 4096"))) {
            assertThat(database.diagnose("small_collectives").getFirst().evidence())
                    .startsWith("mean of 3 steps: 50 of 50 collectives are shorter than 0.1 ms; 1 would do; ");
        }
    }

    @Test
    void smallCollectivesIsSilentForLargeOnesInATraceOfAGpu() {
        try (Database database = open(sendingOnGpu(50, "\"In msg nelems\": 4000000, \"dtype\": \"Float\""))) {
            assertThat(database.diagnose("small_collectives")).isEmpty();
        }
    }

    /// A collective beside operators is a wait between each two of them.
    @Test
    void smallCollectivesIsSilentForOneOfGlooBesideOperatorsInATrace() {
        TraceFixture[] ranks = new TraceFixture[2];
        for (int rank = 0; rank < 2; rank++) {
            long pid = 100L + rank;
            ranks[rank] = trace(pid).members("\"distributedInfo\": {\"backend\": \"gloo\", \"rank\": " + rank + ", \"world_size\": 2},");
            for (int step = 0; step < 12; step++) {
                double at = step * 60;
                ranks[rank].range("ProfilerStep#" + step, pid, at, 60).range("gloo:all_reduce", 200 + rank, at + 1, 50);
                for (int operator = 0; operator < 40; operator++) {
                    ranks[rank].operator("aten::mm", pid, at + 1 + operator * 1.2, 0.6);
                }
            }
        }
        try (Database database = open(ranks)) {
            assertThat(database.diagnose("small_collectives")).isEmpty();
            assertThat(database.diagnose("exposed_communication")).isNotEmpty();
        }
    }

    @Test
    void smallCollectivesIsSilentForFewOfGlooInATrace() {
        try (Database database = open(sending(0, 10), sending(1, 10))) {
            assertThat(database.diagnose("small_collectives")).isEmpty();
        }
    }

    /// Steps of 20 ms of a rank on CPUs with gloo, whose thread exchanges gradients from `fromMs` of a step on.
    private static TraceFixture gloo(int rank, double forwardMs, double fromMs) {
        long pid = 100L + rank;
        TraceFixture trace = trace(pid).members("\"distributedInfo\": {\"backend\": \"gloo\", \"rank\": " + rank + ", \"world_size\": 2},");
        for (int step = 0; step < 12; step++) {
            double at = step * 20;
            trace.range("ProfilerStep#" + step, pid, at, 20).operator("aten::linear", pid, at + forwardMs, 2);
            // The gradients of the last layers are exchanged while those of the first are computed.
            trace.range("gloo:all_reduce", 200 + rank, at + fromMs, 18 - fromMs);
            trace.operator("aten::mm", pid, at + fromMs, 1);
            trace.range("Optimizer.step#SGD.step", pid, at + 18, 2).operator("aten::add_", pid, at + 18, 2);
        }
        return trace;
    }

    /// Two ranks of which the second begins its forward pass 10 ms later.
    private Database lateWithGloo() {
        return open(gloo(0, 0, 2), gloo(1, 10, 12));
    }

    @Test
    void theTrainingThreadWaitsForCollectivesOfGlooWhereItRunsNoOperatorMeanwhile() {
        try (Database database = lateWithGloo()) {
            // 16 ms of rank 0's, and 6 of rank 1's, less an operator of 1 ms; of their training threads.
            assertThat(database.query("SELECT tid || ': ' || count(*) || ' x ' || round(avg(dur_ns) / 1e6) || ' ms' AS waits "
                                    + "FROM events WHERE kind = 'dist_wait' GROUP BY tid ORDER BY tid")
                            .texts("waits"))
                    .containsExactly("100: 12 x 15.0 ms", "101: 12 x 5.0 ms");
        }
    }

    @Test
    void ranksOfTwoJobsThatAreComparedAreOfTwo() {
        String before = gloo(0, 0, 2).write(folder.resolve("before.json")).toString();
        String after = gloo(0, 10, 12).write(folder.resolve("after.json")).toString();
        try (Database database = Recordings.compare(before, after, DatabaseOptions.defaults(), SqlLibrary.builtIn())) {
            assertThat(database.query("SELECT job FROM _rank_jobs ORDER BY job").texts("job")).containsExactly("traces, 0", "traces, 1");
        }
    }

    @Test
    void theTrainingThreadDoesNotWaitForCollectivesOfGlooWhileItGetsABatch() {
        TraceFixture trace = gloo(0, 0, 2);
        for (int step = 0; step < 12; step++) {
            trace.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, step * 20 + 3, 15);
        }
        try (Database database = open(trace)) {
            assertThat(database.query("SELECT kind FROM events WHERE kind = 'dist_wait'").rows()).isEmpty();
        }
    }

    @Test
    void ncclStragglerFiresForRanksWithGloo() {
        try (Database database = lateWithGloo()) {
            Finding finding = database.diagnose("nccl_straggler").getFirst();
            assertThat(finding.subject()).isEqualTo("rank 1 of 2, recording 1 pid 101");
            assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        }
    }

    private Database open(TraceFixture... ranks) {
        return Recordings.open(IntStream.range(0, ranks.length)
                .mapToObj(rank -> ranks[rank].write(folder.resolve("rank" + rank + ".json")).toString())
                .toArray(String[]::new));
    }
}
