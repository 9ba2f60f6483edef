package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Findings about GPUs, memory, ranks and CPUs: each fires on its problem and is silent without.
class GpuFindingsTest {
    private static final int MIB = 1_048_576;

    @TempDir
    Path folder;

    @Test
    void aHealthyJobRaisesNoFinding() {
        RecordingFixture fixture = recording();
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3");
            fixture.gpuAlloc(1, 0.5, 600 * MIB, 0).torchAlloc(2, 500 * MIB);
            for (int i = 0; i < 20; i++) {
                double at = i * 50;
                fixture.region(NEXT, at, 1).copy("HtoD", "pinned", at + 2, 0.02, MIB);
                for (int launch = 0; launch < 50; launch++) {
                    fixture.launch("gemm", at + 3 + launch * 0.1, 0.01);
                }
                fixture.torchAlloc(at + 4, 10 * MIB).torchFree(at + 30, 10 * MIB);
                // Either rank is the last one every other step, by 0.2 ms.
                fixture.backward(at + 10, 20).allReduce(rank, i, at + 12 + (i + rank) % 2 * 0.2, 0.05, 25L * MIB);
                fixture.region(STEP, at + 30, 3).launch("adam", at + 31, 0.01).sync(at + 33, 16.5);
                fixture.event("sched", "off-cpu", at + 40, 1.0, "state = 'sleeping', runq_ns = 20000");
            }
        }
        fixture.gpuSample("utilization", 0, 96, "percent").gpuSample("memory_used", 0, 90, "bytes")
                .gpuSample("memory_total", 0, 100, "bytes")
                .event("io_open", "openat", 60, 0.1, "status = 0, path = '/data/part-7.pt'");
        assertThat(findings(fixture)).isEmpty();
    }

    @Test
    void launchBoundFiresWithTheTimeOfLaunchCalls() {
        Finding finding = only("launch_bound", launches(100, 0.04));
        assertThat(finding.value()).isEqualTo(100.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(4.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(9.0); // the GPU may be busy for nothing to all of 20 ms
        assertThat(finding.evidence())
                .isEqualTo("median of 9 steps: dispatching 100 launches takes 19.0 ms of 20.0 ms, 4.0 ms of it in the calls "
                        + "(40.0 us each); waits for the GPU 0.0 ms; GPU use was not sampled, so between 4.0 ms and 19.0 ms are lost; "
                        + "saves at most 19.0 ms: 20.0 / (20.0 - 19.0) = 20.00x");
    }

    @Test
    void launchBoundFiresWithTheIdlePartOfTheGpu() {
        Finding finding = only("launch_bound", sampled(launches(100, 0.04), 39, 41, 40, 40));
        // 19 ms outside the data wait, less 40 % of 20 ms.
        assertThat(finding.lostMillisPerStep()).isEqualTo(11.0);
        // Four samples with a deviation of 0.8 %: 3.18 * 0.8 / 2, and 3 % of error.
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(10.14);
        // 20 ms / (20 ms - (100 % - 36 %) of it)
        assertThat(finding.maxSpeedup()).isEqualTo(2.8);
        assertThat(finding.evidence()).contains("; GPU busy 40 % of the time (NVML: 36 % to 44 %), 8.0 ms per step; ");
    }

    @Test
    void launchBoundIsSilentWhereFewSamplesLeaveRoomForABusyGpu() {
        assertThat(run("launch_bound", sampled(launches(100, 0.04), 48))).isEmpty(); // at most twice as much
        assertThat(run("launch_bound", sampled(launches(100, 0.04), 10))).hasSize(1);
        assertThat(run("launch_bound", sampled(launches(100, 0.04), 40, 50))).isEmpty();
        assertThat(run("launch_bound", sampled(launches(100, 0.04), 39, 41))).hasSize(1);
    }

    @Test
    void launchBoundIsSilentWhereTheGpuIsTheLimit() {
        // After the last step so much was still queued; where samples say that the GPU is idle, something else was waited for.
        assertThat(run("launch_bound", launches(100, 0.04).sync(200.1, 15))).isEmpty();
        assertThat(run("launch_bound", launches(100, 0.04).sync(200.1, 1))).hasSize(1);
        assertThat(run("launch_bound", sampled(launches(100, 0.04), 39, 41, 40, 40).sync(200.1, 15))).hasSize(1);
    }

    /// With samples of the GPU's utilization in the middle of training, one every 40 ms.
    private static RecordingFixture sampled(RecordingFixture fixture, int... percents) {
        fixture.gpuSample("utilization", 20, 0, "percent");
        for (int i = 0; i < percents.length; i++) {
            fixture.gpuSample("utilization", 60 + i * 40, percents[i], "percent");
        }
        return fixture;
    }

    /// Counters of a GPU that is always busy, each second, while 200 steps of 50 ms train; percents.
    private static RecordingFixture counted(double sms, double fp32, double tensor, double dram) {
        RecordingFixture fixture = recording().training(200, 15);
        for (int i = 0; i <= 9; i++) {
            double at = 500 + i * 1000;
            fixture.gpuSample("utilization", at, 98, "percent")
                    .gpuSample("sm_active", at, Math.round(sms * 10_000), "ppm")
                    .gpuSample("sm_occupancy", at, Math.round(sms * 5_000), "ppm")
                    .gpuSample("fp32_active", at, Math.round(fp32 * 10_000), "ppm")
                    .gpuSample("tensor_active", at, Math.round(tensor * 10_000), "ppm")
                    .gpuSample("dram_active", at, Math.round(dram * 10_000), "ppm");
        }
        return fixture;
    }

    @Test
    void idleSmsFiresWhereABusyGpuHasSmsWithoutWork() {
        Finding finding = only("idle_sms", counted(20, 5, 4, 10));
        assertThat(finding.value()).isEqualTo(20.0);
        assertThat(finding.unit()).isEqualTo("% of the time of SMs");
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.maxSpeedup()).isEqualTo(5.0);
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence()).isEqualTo("a kernel ran 98 % of the time (NVML), and an SM had work 20 % of it, "
                + "10 % of the warps that fit (9 intervals of hardware counters); DRAM is busy 10 %; a bound, not a "
                + "measurement: if the same work filled all SMs, a step would take no less than 20 % of its time: "
                + "1.00x to 5.00x");
        assertThat(only("idle_sms", counted(40, 5, 4, 10)).severity()).isEqualTo("low");
    }

    @Test
    void idleSmsIsSilentForFullSmsForAnIdleGpuForNcclAndForCompanyOnTheGpu() {
        assertThat(run("idle_sms", counted(77, 5, 22, 46))).isEmpty(); // GPT-2 on an H100
        assertThat(run("idle_sms", sampled(launches(100, 0.04), 10, 10).gpuSample("sm_active", 100, 90_000, "ppm"))).isEmpty();
        assertThat(run("idle_sms", counted(20, 5, 4, 10).allReduce(0, 0, 12, 0.05, 25L * MIB))).isEmpty();
        assertThat(run("idle_sms", counted(20, 5, 4, 10).event(
                        "gpu_process", "sm", 500, null, "device = 0, pid = 100, value = 50, unit = 'percent'"))).hasSize(1);
        assertThat(run("idle_sms", counted(20, 5, 4, 10)
                        .event("gpu_process", "sm", 500, null, "device = 0, pid = 100, value = 50, unit = 'percent'")
                        .event("gpu_process", "sm", 500, null, "device = 0, pid = 7, value = 50, unit = 'percent'"))).isEmpty();
    }

    @Test
    void idleTensorCoresFiresWhereFp32PipesDoTheWork() {
        Finding finding = only("idle_tensor_cores", counted(95, 62, 0, 20));
        assertThat(finding.value()).isEqualTo(62.0);
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.maxSpeedup()).isEqualTo(10.0); // half of the memory's time stays
        assertThat(finding.evidence()).isEqualTo("FP32 pipes were busy 62 % of the time, tensor cores 0.0 % (at most 0.0 %), "
                + "SMs 95 %, DRAM 20 % (9 intervals of hardware counters); a bound, not a measurement: 1.00x if this work is "
                + "no matrix product, at most 10.00x if all of it is");
        // 1 / (1 - 0.6 * 31 / 32)
        assertThat(only("idle_tensor_cores", counted(60, 40, 1, 20)).maxSpeedup()).isEqualTo(2.39);
        // GPT-2 in float32 on an H100: its attention uses tensor cores.
        assertThat(only("idle_tensor_cores", counted(91.5, 56.1, 2.04, 17.9)).maxSpeedup()).isEqualTo(8.8);
    }

    @Test
    void idleTensorCoresIsSilentWhereTheyWorkAndWhereMemoryOrLittleElseIsBusy() {
        assertThat(run("idle_tensor_cores", counted(77, 20, 22, 46))).isEmpty(); // GPT-2 on an H100
        assertThat(run("idle_tensor_cores", counted(95, 62, 7, 20))).isEmpty();
        assertThat(run("idle_tensor_cores", counted(95, 12, 0, 20))).isEmpty();
        assertThat(run("idle_tensor_cores", counted(95, 35, 0, 90))).isEmpty();
        assertThat(run("idle_tensor_cores", counted(95, 62, 0, 20).gpuSample("tensor_active", 9600, 500_000, "ppm"))).isEmpty();
    }

    @Test
    void samplesThatReachBeyondTrainingDoNotCountBesideOthers() {
        RecordingFixture fixture = launches(100, 0.04).gpuSample("utilization", 0, 0, "percent")
                .gpuSample("utilization", 60, 20, "percent")
                .gpuSample("utilization", 120, 40, "percent")
                .gpuSample("utilization", 190, 40, "percent");
        assertThat(only("launch_bound", fixture).lostMillisPerStep()).isEqualTo(11.0);
    }

    @Test
    void launchBoundIsSilentForFewLaunchesForLongOnesAndForABusyGpu() {
        assertThat(run("launch_bound", launches(20, 0.1))).isEmpty();
        assertThat(run("launch_bound", launches(100, 0.15))).isEmpty();
        assertThat(run("launch_bound", sampled(launches(100, 0.04), 97, 97, 97, 97))).isEmpty();
    }

    @Test
    void recompilesFiresForStepsThatCompileWhileItTrains() {
        Finding finding = only("recompiles", compiling(12, 20, 28, 36));
        assertThat(finding.value()).isEqualTo(4.0);
        assertThat(finding.unit()).isEqualTo("of 39 steps");
        assertThat(finding.evidence())
                .isEqualTo("each takes 500.0 ms more than the median of 50.0 ms, the longest 550.0 ms; "
                        + "51.3 ms of the mean of steps with these, 101.3 ms; "
                        + "saves at most 51.3 ms: 101.3 / (101.3 - 51.3) = 2.03x");
        assertThat(run("slow_steps", compiling(12, 20, 28, 36))).isEmpty();
    }

    @Test
    void recompilesIsSilentForWarmUpAndForALastBatch() {
        assertThat(run("recompiles", compiling(1, 2, 3, 40))).isEmpty();
        assertThat(run("recompiles", compiling())).isEmpty();
    }

    /// 40 steps of 50 ms, of which these open a cache of compiled kernels and take 500 ms longer.
    private static RecordingFixture compiling(Integer... steps) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            fixture.region(NEXT, at, 5);
            if (List.of(steps).contains(i)) {
                fixture.event("io_open", "openat", at + 6, 0.1, "status = 0, path = '/tmp/torchinductor_me/ab/cab.py'");
                at += 500;
            }
            fixture.region(STEP, at + 40, 10);
            at += 50;
        }
        return fixture;
    }

    @Test
    void whatEvaluationLeavesIdleIsNotSavedInTrainingSteps() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int pass = 0; pass < 5; pass++) {
            for (int i = 0; i < 100; i++) {
                fixture.region(NEXT, at, 1).launch("gemm", at + 2, 1).backward(at + 5, 10).region(STEP, at + 20, 30);
                at += 50;
            }
            for (int batch = 0; batch < 10; batch++) {
                fixture.region(NEXT, at, 5);
                at += 500;
            }
        }
        for (int second = 0; second <= 50; second++) {
            fixture.gpuSample("utilization", second * 1000, second % 10 >= 1 && second % 10 <= 5 ? 80 : 20, "percent");
        }
        Finding finding = only("slow_optimizer", fixture);
        // The GPU is idle for 20 % of 50 ms, and a sample speaks of 49 in 50 ms of training.
        assertThat(finding.lostMillisPerStep()).isEqualTo(9.596);
    }

    @Test
    void hostBoundFiresForWorkBetweenTheCalls() {
        Finding finding = only("host_bound", hostWork(4, 3));
        // 14.7 ms without a launch or a copy outside Optimizer.step, less 4 ms of sleep; without samples, half of the step is what the GPU may be idle.
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence())
                .isEqualTo("median of 19 steps: 10.7 ms of 20.0 ms on the CPU in no recorded call and without a launch, 4.0 ms off it; launches: 3; "
                        + "most of it before a copy of 2.1 MB to the GPU; "
                        + "GPU use was not sampled, so between 0.0 ms and 10.7 ms are lost; saves at most 10.7 ms: 20.0 / (20.0 - 10.7) = 2.15x");
        assertThat(finding.advice()).startsWith("make the next batch while the step runs");
    }

    @Test
    void longStretchesWithoutALaunchAreOtherWorkAndNotLaunching() {
        RecordingFixture fixture = recording().footer(
                "zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\",\"why\":null,\"events\":20}]");
        for (int i = 0; i < 20; i++) {
            for (int launch = 0; launch < 200; launch++) {
                fixture.launch("gemm", i * 20 + 8 + launch * 0.035, 0.005);
            }
            fixture.region(STEP, i * 20 + 15, 5);
        }
        assertThat(only("host_bound", fixture).evidence()).startsWith(
                "median of 19 steps: 8.0 ms of 20.0 ms on the CPU in no recorded call and without a launch, 0.0 ms off it; "
                        + "launches: 200; ");
        assertThat(only("launch_bound", fixture).evidence())
                .startsWith("median of 19 steps: dispatching 200 launches takes 12.0 ms of 20.0 ms, 1.0 ms of it in the calls "
                        + "(5.0 us each); 8.0 ms are other work without a launch; ");
    }

    @Test
    void hostBoundSaysNothingOfABatchWhereNoneIsCopied() {
        RecordingFixture fixture = recording().footer(
                "zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\",\"why\":null,\"events\":20}]");
        for (int i = 0; i < 20; i++) {
            fixture.launch("gemm", i * 20 + 10, 0.01).region(STEP, i * 20 + 15, 5);
        }
        Finding finding = only("host_bound", fixture);
        assertThat(finding.evidence()).contains("launches: 1; GPU use was not sampled, so between 0.0 ms and 15.0 ms are lost; saves at most");
        assertThat(finding.advice()).startsWith("find it with py-spy");
    }

    @Test
    void hostBoundIsSilentForSleepForLaunchingAndForABusyGpu() {
        assertThat(run("host_bound", hostWork(8, 3))).hasSize(1);
        assertThat(run("host_bound", hostWork(9, 80))).isEmpty(); // 5.9 ms for 80 launches
        assertThat(run("host_bound", hostWork(14, 3))).isEmpty(); // of the 15 ms, it sleeps 14
        assertThat(run("host_bound", hostWork(4, 3).sync(400, 19))).isEmpty(); // a step was still queued
        assertThat(run("host_bound", hostWork(4, 3).footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"off\"}]")))
                .isEmpty();
    }

    /// 20 steps of 20 ms with 15 ms in which the thread sleeps so long, copies a batch of 2 MB to the GPU and launches.
    private static RecordingFixture hostWork(double sleepMs, int launches) {
        RecordingFixture fixture = recording().footer(
                "zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\",\"why\":null,\"events\":20}]");
        for (int i = 0; i < 20; i++) {
            double at = i * 20;
            fixture.event("sched", "off-cpu", at + 0.1, sleepMs, "state = 'sleeping', runq_ns = 0");
            double awake = at + Math.max(10, 0.1 + sleepMs);
            fixture.copy("HtoD", "pinned", awake, 0.1, 2_097_152);
            for (int launch = 0; launch < launches; launch++) {
                fixture.launch("gemm", awake + 0.2 + launch * 0.05, 0.01);
            }
            fixture.region(STEP, at + 15, 5);
        }
        return fixture;
    }

    @Test
    void syncBoundFiresForWaitsInsideTheStep() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01);
            // .item(): a copy that waits and a sync that returns at once; then 5 ms of Python.
            fixture.copy("DtoH", "pageable", at + 3, 10, 4).sync(at + 13, 0.5).launch("gemm", at + 18.5, 0.01);
            fixture.sync(at + 20, 10).launch("gemm", at + 33, 0.01).region(STEP, at + 45, 5);
        }
        Finding finding = only("sync_bound", fixture);
        assertThat(finding.value()).isEqualTo(2.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(8.0);
        // Blocked 20.5 ms of 50 ms; the 28.5 ms of work outside could hide all of it.
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: blocked 20.5 ms for the GPU in 2.0 stops, then 8.0 ms until the next launch; "
                        + "GPU use was not sampled, so between 8.0 ms and 20.5 ms are lost; saves at most 20.5 ms: 50.0 / (50.0 - 20.5) = 1.69x");
        assertThat(finding.maxSpeedup()).isEqualTo(1.69);
    }

    @Test
    void syncBoundIsWhatWaitsCostUpToTheIdleTimeOfTheGpu() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 41; i++) {
            double at = i * 50;
            // The outputs go to the host: a copy of 30 ms, then a millisecond until the next launch.
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01).copy("DtoH", "pageable", at + 3, 30, 100_000_000)
                    .launch("gemm", at + 34, 0.01).region(STEP, at + 45, 5);
        }
        for (int i = 0; i < 10; i++) {
            fixture.gpuSample("busy", i * 200, 20, "percent");
        }
        Finding finding = only("sync_bound", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(30.0);
        assertThat(finding.evidence()).isEqualTo("mean of 40 steps: blocked 30.0 ms for the GPU in 1.0 stops, then 1.0 ms until "
                + "the next launch; saves at most 30.0 ms: 50.0 / (50.0 - 30.0) = 2.50x");
    }

    @Test
    void syncBoundIsSilentForOneWaitAtTheEnd() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 10).launch("gemm", at + 11, 0.01).region(STEP, at + 15, 5).sync(at + 21, 28.5);
        }
        assertThat(run("sync_bound", fixture)).isEmpty();
    }

    @Test
    void syncBoundIsSilentWhereItIsNotKnownWhatWasLaunched() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 1).copy("DtoH", "pageable", at + 3, 10, 4).sync(at + 20, 10).region(STEP, at + 45, 5);
        }
        assertThat(run("sync_bound", fixture)).isEmpty();
    }

    @Test
    void pageableCopiesFiresWithBytesAndRate() {
        Finding finding = only("pageable_copies", copies("pageable"));
        // 20 MB at 4 GB/s, and at 85 % of 31.5 GB/s from pinned memory.
        assertThat(finding.lostMillisPerStep()).isEqualTo(4.253);
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: 1.0 copies from pageable memory, 20.0 MB, block for 5.0 ms; "
                        + "at 4.0 GB/s they take 5.0 ms of it, from pinned memory 0.7 ms (assumed: PCIe 4 x16); "
                        + "saves at most 5.0 ms: 50.0 / (50.0 - 5.0) = 1.11x");
    }

    @Test
    void pageableCopiesCostWhatTheyBlockWhereTheGpuIsIdle() {
        RecordingFixture fixture = copies("pageable");
        for (int i = 1; i <= 5; i++) {
            fixture.gpuSample("utilization", i * 100, 60, "percent");
        }
        assertThat(only("pageable_copies", fixture).lostMillisPerStep()).isEqualTo(5.0);
        RecordingFixture busy = copies("pageable");
        for (int i = 1; i <= 5; i++) {
            busy.gpuSample("utilization", i * 100, 94, "percent");
        }
        // Idle for 3 ms, 0.7 ms of which pinned copies take.
        assertThat(only("pageable_copies", busy).lostMillisPerStep()).isEqualTo(2.253);
    }

    @Test
    void pageableCopiesAreComparedWithWhatTheLinkCarries() {
        String devices = "{\"devices\":[{\"index\":0,\"pcie_generation\":%d,\"pcie_width\":%d}]}";
        // 20 MB at 85 % of 63.0 GB/s, of 7.9 GB/s, and of 4 GB/s.
        assertThat(only("pageable_copies", copies("pageable").footer("zernel.gpus", devices.formatted(5, 16))).evidence())
                .contains("from pinned memory 0.4 ms (the link is PCIe 5 x16); ");
        assertThat(only("pageable_copies", copies("pageable").footer("zernel.gpus", devices.formatted(3, 8))).evidence())
                .contains("from pinned memory 3.0 ms (the link is PCIe 3 x8); ");
        assertThat(run("pageable_copies", copies("pageable").footer("zernel.gpus", devices.formatted(2, 8)))).isEmpty();
        // Hopper and newer.
        assertThat(only("pageable_copies", copies("pageable").gpuSample("sm_active", 100, 300_000, "ppm")).evidence())
                .contains("from pinned memory 0.4 ms (assumed: PCIe 5 x16); ");
    }

    @Test
    void pageableCopiesCostARangeWhereSamplesAreFew() {
        RecordingFixture fixture = copies("pageable");
        fixture.gpuSample("utilization", 200, 92, "percent").gpuSample("utilization", 300, 96, "percent");
        // Two samples say little: the GPU may idle all the time, and does at least while it gets 2 ms of copies.
        assertThat(only("pageable_copies", fixture).evidence())
                .contains("; the GPU is idle for 2.0 ms to 50.0 ms of a step, so between 1.3 ms and 5.0 ms are lost; ");
    }

    @Test
    void pageableCopiesIsSilentForPinnedMemoryAndForWaitsBeforeASmallCopy() {
        assertThat(run("pageable_copies", copies("pinned"))).isEmpty();
        RecordingFixture fixture = recording().training(11, 15);
        for (int i = 0; i < 11; i++) {
            fixture.copy("HtoD", "pageable", i * 50 + 16, 20, 200_000);
        }
        assertThat(run("pageable_copies", fixture)).isEmpty();
    }

    @Test
    void ncclStragglerFiresAndSaysWhy() {
        Finding finding = only("nccl_straggler", ranks(20, 20));
        assertThat(finding.subject()).isEqualTo("rank 1 of 2, pid 101");
        assertThat(finding.value()).isEqualTo(19.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(19.0);
        assertThat(finding.evidence())
                .isEqualTo("late in 10 of 10 steps, then 19.0 ms after the last of the others and 19.0 ms after the first (medians); "
                        + "it waits 19.0 ms longer for data than the others; saves at most 19.0 ms: 60.0 / (60.0 - 19.0) = 1.46x");
        assertThat(finding.advice()).isEqualTo("look at the input of this rank: its shard, its storage, its workers");
    }

    @Test
    void ncclStragglerIsSilentWhenRanksTakeTurns() {
        assertThat(run("nccl_straggler", ranks(20, 1))).isEmpty();
    }

    @Test
    void smallCollectivesFiresForManySmallOnes() {
        Finding finding = only("small_collectives", collectives(40, 4096));
        assertThat(finding.value()).isEqualTo(40.0);
        // 39 of 40 at 0.1 ms, which is longer than a round trip.
        assertThat(finding.lostMillisPerStep()).isEqualTo(3.9);
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: 40 of 40 collectives are below 4 MiB, median 4.0 KiB; 1 would do; "
                        + "the calls take 4.0 ms, a round trip 20 us (assumed); saves at most 6.0 ms: 50.0 / (50.0 - 6.0) = 1.14x");
    }

    @Test
    void smallCollectivesIsSilentForLargeOrFewOnes() {
        assertThat(run("small_collectives", collectives(40, 4 * MIB))).isEmpty();
        assertThat(run("small_collectives", collectives(10, 4096))).isEmpty();
    }

    /// Steps of 50 ms on CPUs in each of which as many waits of torch.distributed follow each other, 0.1 ms apart.
    private static RecordingFixture waitsInALoop(int waits, double waitMs) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 1).backward(at + 2, 2);
            for (int j = 0; j < waits; j++) {
                fixture.event("dist_wait", "Work::wait", at + 5 + j * (waitMs + 0.1), waitMs, "status = 0");
            }
            fixture.region(STEP, at + 45, 5);
        }
        return fixture;
    }

    @Test
    void smallCollectivesFiresForALoopOfThemWithoutNccl() {
        Finding finding = only("small_collectives", waitsInALoop(40, 0.5));
        assertThat(finding.value()).isEqualTo(40.0);
        // 39 of 40 at 0.5 ms; at most all of them and what is between two.
        assertThat(finding.lostMillisPerStep()).isEqualTo(19.5);
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: 40 waits for a collective, one after the other, take 20.0 ms; one would do, and "
                        + "even the shortest takes 500 us; saves at most 23.9 ms: 50.0 / (50.0 - 23.9) = 1.92x");
        assertThat(finding.advice()).startsWith("one collective in place of the loop");
        // What one of them takes is left.
        assertThat(run("exposed_communication", waitsInALoop(40, 0.5))).isEmpty();
    }

    @Test
    void smallCollectivesIsSilentWithoutNcclForFewWaitsAndForThoseThatReturnAtOnce() {
        assertThat(run("small_collectives", waitsInALoop(10, 2))).isEmpty();
        assertThat(run("small_collectives", waitsInALoop(40, 0.002))).isEmpty();
    }

    @Test
    void smallCollectivesTakesBytesThatAreSentForNoRoundTrips() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01).sync(at + 3, 1);
            for (int j = 0; j < 40; j++) {
                fixture.allReduce(0, i * 40 + j, at + 5 + j * 0.1, 0.01, MIB);
            }
            fixture.sync(at + 10, 20).region(STEP, at + 45, 5);
        }
        assertThat(run("small_collectives", fixture)).isEmpty();
        // 20 ms, of which 38 of 40 calls that two would do cost a round trip of 20 us, as is assumed.
        assertThat(only("exposed_communication", fixture).lostMillisPerStep()).isEqualTo(19.24);
    }

    @Test
    void exposedCommunicationFiresForWaitsOnOtherRanks() {
        Finding finding = only("exposed_communication", waits(15));
        assertThat(finding.value()).isEqualTo(30.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: 15.0 ms of 50.0 ms blocked in torch.distributed; "
                        + "saves at most 15.0 ms: 50.0 / (50.0 - 15.0) = 1.43x");
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
    }

    @Test
    void exposedCommunicationFiresWithWhatTheLinkOfTheHostCarries() {
        RecordingFixture fixture = waits(15).hostSample("net_speed", "eth0", 0, 125_000_000);
        for (int i = 0; i <= 10; i++) {
            fixture.hostSample("net_rx", "eth0", i * 50.0, i * 5_000_000L).hostSample("net_tx", "eth0", i * 50.0, i * 2_000_000L);
        }
        assertThat(only("exposed_communication", fixture).evidence())
                .contains("; this host's link eth0 carries 100.0 MB/s in and 40.0 MB/s out of 125.0 MB/s; saves at most");
    }

    @Test
    void exposedCommunicationIsSilentWhereComputationWasEnqueuedToo() {
        assertThat(run("exposed_communication", syncsBehindCollectives(false))).isEmpty();
    }

    @Test
    void exposedCommunicationIsSilentWhereItIsNotKnownWhatWasEnqueued() {
        assertThat(run("exposed_communication", syncsBehindCollectives(false).alter("DELETE FROM events WHERE kind = 'cuda_launch'")))
                .isEmpty();
    }

    @Test
    void exposedCommunicationFiresWithWhatFollowsADrainedGpu() {
        Finding finding = only("exposed_communication", syncsBehindCollectives(true));
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
    }

    @Test
    void exposedCommunicationFiresForWhatOnlyTheGpuWaitsForByItsTrace() {
        TraceFixture trace = TraceFixture.trace(100);
        for (int i = 2; i <= 6; i++) {
            double at = i * 50;
            trace.kernel("gemm", 7, at + 2, at + 2, 20).kernel("ncclDevKernel_AllReduce", 9, at + 5, at + 12, 20);
        }
        trace.kernel("adam", 7, 350, 351, 1);
        Path run = syncsBehindCollectives(false).write(folder.resolve("run.parquet"));
        Path json = trace.write(folder.resolve("trace.json"));
        try (Database database = Recordings.open(run.toString(), json.toString())) {
            Finding finding = Finding.run(Objects.requireNonNull(database.library().find("exposed_communication")), database)
                    .getFirst();
            // Half of each all-reduce; 50 ms of the 250 ms that the trace covers.
            assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
            assertThat(finding.evidence())
                    .isEqualTo("mean of 10 steps: 10.0 ms of 50.0 ms in which the GPU communicates and computes nothing, "
                            + "by its trace; saves at most 10.0 ms: 50.0 / (50.0 - 10.0) = 1.25x");
        }
    }

    @Test
    void exposedCommunicationIsNotSilencedByAProcessThatDoesNotCommunicate() {
        RecordingFixture fixture = syncsBehindCollectives(true).on(300, 300, "python3").training(11, 15);
        Finding finding = only("exposed_communication", fixture);
        assertThat(finding.subject()).isEqualTo("pid 100");
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
    }

    @Test
    void exposedCommunicationIsSilentForShortWaits() {
        assertThat(run("exposed_communication", waits(2))).isEmpty();
    }

    @Test
    void memoryGrowthFiresWithAForecast() {
        Finding finding = only("memory_growth", growing(1000));
        assertThat(finding.subject()).isEqualTo("pid 100 device 0");
        assertThat(finding.value()).isEqualTo(1.049);
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence())
                .isEqualTo("what PyTorch handed out at the end of steps rose from 126.9 MB to 146.8 MB in 20 steps (r2 1.00); "
                        + "the GPU is full in about 1000 steps");
        assertThat(finding.isKilledSoon()).as("40 s left after 0.8 s of growth").isFalse();
    }

    @Test
    void aGpuThatIsSoonFullComesBeforeWhatIsOnlySlow() {
        Finding finding = only("memory_growth", growing(1900));
        assertThat(finding.evidence()).endsWith("; the GPU is full in about 100 steps");
        assertThat(finding.more()).containsEntry("minutes_left", 0.1); // 100 steps of 40 ms, after 20 of growth
        assertThat(finding.isKilledSoon()).isTrue();
    }

    /// Keeps 1 MiB of each step of 40 ms, on a GPU of 2000 MiB.
    private static RecordingFixture growing(long usedMib) {
        RecordingFixture fixture = recording().training(40, 5).torchAlloc(0, 100 * MIB);
        for (int i = 0; i < 40; i++) {
            fixture.torchAlloc(i * 40 + 20, 30 * MIB).torchFree(i * 40 + 35, 29 * MIB);
        }
        return fixture.gpuSample("memory_used", 0, usedMib * MIB, "bytes")
                .footer("zernel.gpus", "{\"devices\":[{\"index\":0,\"memory_total\":" + 2000L * MIB + "}]}");
    }

    @Test
    void memoryGrowthIsSilentForASingleRiseAndForWarmUp() {
        RecordingFixture fixture = recording().training(40, 5);
        for (int i = 0; i < 15; i++) {
            fixture.torchAlloc(i * 40 + 20, 30 * MIB);
        }
        assertThat(run("memory_growth", fixture.torchAlloc(39 * 40, 30 * MIB))).isEmpty();
    }

    @Test
    void nearOomFiresForFailedAllocationsAndForAFullGpu() {
        RecordingFixture fixture = recording().gpuAlloc(0, 1, 100 * MIB, 0).gpuAlloc(2, 1, 50 * MIB, 2)
                .gpuSample("memory_total", 0, 80L * 1024 * MIB, "bytes")
                .gpuSample("memory_used", 0, 40L * 1024 * MIB, "bytes")
                .gpuSample("memory_used", 1000, 78L * 1024 * MIB, "bytes");
        List<Finding> findings = run("near_oom", fixture);
        assertThat(findings).extracting(Finding::subject).containsExactly("pid 100 device 0", "GPU 0");
        assertThat(findings).extracting(Finding::evidence)
                .containsExactly(
                        "1 of 2 allocations failed, the largest of 52.4 MB; 104.9 MB were live at the peak",
                        "83.75 GB of 85.90 GB used at most, 42.95 GB in the median of 2 samples");
    }

    @Test
    void nearOomIsSilentWhenMemoryIsLeft() {
        assertThat(run("near_oom", recording().gpuAlloc(0, 1, MIB, 0).gpuSample("memory_total", 0, 100, "bytes")
                        .gpuSample("memory_used", 0, 90, "bytes")))
                .isEmpty();
    }

    @Test
    void allocatorChurnFiresInTheSecondHalf() {
        RecordingFixture fixture = recording().training(20, 15);
        for (int i = 0; i < 20; i++) {
            fixture.gpuAlloc(i * 50 + 20, 1, 2 * MIB, 0).gpuFree(i * 50 + 40, 4, "" + 2 * MIB);
        }
        Finding finding = only("allocator_churn", fixture);
        assertThat(finding.value()).isEqualTo(2.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of the last 10 steps: 1.0 allocations and 1.0 releases take 5.0 ms of 50.0 ms, and 0.0 ms around them; "
                        + "saves at most 5.0 ms: 50.0 / (50.0 - 5.0) = 1.11x");
    }

    @Test
    void allocatorChurnIsSilentForWarmUp() {
        RecordingFixture fixture = recording().training(20, 15);
        for (int i = 0; i < 9; i++) {
            fixture.gpuAlloc(i * 50 + 20, 5, 2 * MIB, 0);
        }
        assertThat(run("allocator_churn", fixture)).isEmpty();
    }

    @Test
    void allocatorChurnIsSilentForWhatEvaluationAllocates() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 100; i++) {
            if (i % 10 == 0) {
                for (int batch = 0; batch < 6; batch++) {
                    fixture.region(NEXT, at, 5);
                    for (int call = 0; call < 10; call++) {
                        fixture.gpuAlloc(at + 6 + call * 4, 2, 2 * MIB, 0).gpuFree(at + 8 + call * 4, 2, "" + 2 * MIB);
                    }
                    at += 50;
                }
            }
            fixture.region(NEXT, at, 5).backward(at + 10, 20).region(STEP, at + 45, 5);
            at += 50;
        }
        assertThat(run("allocator_churn", fixture)).isEmpty();
    }

    @Test
    void fragmentationFiresWhenReservedIsNeverHandedOut() {
        RecordingFixture fixture =
                recording().gpuAlloc(0, 1, 1000L * MIB, 0).torchAlloc(2, 600 * MIB).torchFree(3, 600 * MIB);
        Finding finding = only("fragmentation", fixture);
        assertThat(finding.value()).isEqualTo(40.0);
        assertThat(finding.evidence())
                .isEqualTo("at most 629.1 MB were handed out of 1.05 GB reserved; 0 failed allocations");
    }

    @Test
    void fragmentationIsSilentWhenMostWasHandedOut() {
        assertThat(run("fragmentation", recording().gpuAlloc(0, 1, 1000L * MIB, 0).torchAlloc(2, 900 * MIB)))
                .isEmpty();
        assertThat(run("fragmentation", recording().gpuAlloc(0, 1, 1000L * MIB, 0))).isEmpty();
    }

    @Test
    void cpuPreemptedFiresForTimeWithoutACpu() {
        Finding finding = only("cpu_preempted", preempted(10));
        assertThat(finding.value()).isEqualTo(20.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU; 9 waits, 9 after losing the CPU to "
                        + "another thread, longest 10.0 ms; 8 CPUs; saves at most 10.0 ms: 50.0 / (50.0 - 10.0) = 1.25x");
    }

    @Test
    void cpuPreemptedFiresForThreadsOfThePoolThatHaveNoCpuButWhereTheRecorderHasIt() {
        RecordingFixture fixture = poolWithout(900);
        assertThat(only("cpu_preempted", fixture).lostMillisPerStep()).isEqualTo(30.0);
        assertThat(only("cpu_preempted", fixture).evidence()).contains("; in 20.0 ms more it has a CPU and waits there for threads of its pool");
        assertThat(only("cpu_preempted", poolWithout(4242)).lostMillisPerStep()).isEqualTo(10.0);
    }

    private static RecordingFixture poolWithout(long other) {
        RecordingFixture fixture = preempted(10).footer("zernel.recording", "{\"cpus\":8,\"recorder_pid\":4242}");
        for (int i = 0; i < 10; i++) {
            fixture.on(100, 107, "python3")
                    .event("sched", "off-cpu", i * 50 + 33, 12.0, "runq_ns = 12000000, other_pid = " + other + ", other_comm = 'x'");
            fixture.on(100, 100, "python3").sample(i * 50 + 40, "main (/train.py:9);[libgomp.so.1]");
        }
        return fixture;
    }

    @Test
    void cpuPreemptedFiresAndCountsNothingForWhichTheRecorderHasTheCpu() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"cpus\":8,\"recorder_pid\":4242}");
        for (int i = 0; i < 10; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 20, 10.0, "state = 'preempted', runq_ns = 10000000, other_pid = 4242, other_comm = 'recorder'");
            fixture.event("sched", "off-cpu", i * 50 + 31, 6.0, "state = 'preempted', runq_ns = 6000000, other_pid = 900, other_comm = 'make'");
        }
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.value()).isEqualTo(12.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(6.0);
        assertThat(finding.evidence())
                .contains("6.0 ms of 50.0 ms ready without a CPU; ", "other programs had it 100 % of that time; of them make (pid 900) 100 %; ");
    }

    /// Of two CPUs the recorder has one: the training and its pool take turns on the other.
    private static RecordingFixture takingTurns(double withRecorder, double withOwn, int poolSamples) {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"cpus\":2,\"recorder_pid\":4242}");
        for (int i = 0; i < 10; i++) {
            fixture.on(100, 107, "python3").event("sched", "off-cpu", i * 50 + 37, 5.0, "runq_ns = 5000000, other_pid = 100, other_comm = 'python3'");
            for (int sample = 0; sample < poolSamples; sample++) {
                fixture.sample(i * 50 + 10 + sample, "mkl_blas_sgemm (libtorch_cpu.so)");
            }
            fixture.on(100, 100, "python3").sample(i * 50 + 40, "main (/train.py:9);[libgomp.so.1]")
                    .event("sched", "off-cpu", i * 50 + 20, withRecorder,
                            "state = 'preempted', runq_ns = " + Math.round(withRecorder * 1e6) + ", other_pid = 4242, other_comm = 'recorder'")
                    .event("sched", "off-cpu", i * 50 + 30, withOwn,
                            "state = 'preempted', runq_ns = " + Math.round(withOwn * 1e6) + ", other_pid = 100, other_comm = 'python3'");
        }
        return fixture;
    }

    @Test
    void cpuPreemptedIsSilentForTurnsOfOwnThreadsThatTheRecorderLeavesTooFewCpus() {
        assertThat(run("cpu_preempted", takingTurns(6, 5, 0))).isEmpty();
        assertThat(run("cpu_preempted", takingTurns(4, 5, 1))).isEmpty();
        assertThat(only("cpu_preempted", takingTurns(2, 5, 1)).lostMillisPerStep()).isEqualTo(25.0);
    }

    /// Operators are so small that the thread would do them sooner by itself.
    @Test
    void cpuPreemptedFiresForTurnsOfAPoolThatComputesLittle() {
        assertThat(only("cpu_preempted", takingTurns(4, 5, 0)).lostMillisPerStep()).isEqualTo(25.0);
    }

    @Test
    void cpuPreemptedIsSilentForShortDelays() {
        assertThat(run("cpu_preempted", preempted(0.5))).isEmpty();
    }

    @Test
    void cpuPreemptedFiresForThreadsThatLaunchKernels() {
        RecordingFixture fixture = recording().training(10, 15).on(100, 101, "pt_autograd_0").launch("gemm", 20, 0.01);
        for (int i = 0; i < 10; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 20, 10.0, "state = 'preempted', runq_ns = 10000000");
        }
        assertThat(only("cpu_preempted", fixture).lostMillisPerStep()).isEqualTo(10.0);
    }

    @Test
    void noisyNeighbourFiresWhereAnotherProcessLeavesTheCpu() {
        RecordingFixture fixture = preempted(10).on(900, 900, "stress-ng");
        for (int i = 0; i < 10; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 29, 20.0, "state = 'preempted', runq_ns = 20000000");
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while stress-ng (pid 900) or others "
                        + "had it; 9 waits of it and of threads that launch for it, longest 10.0 ms; saves at most 10.0 ms: 50.0 / (50.0 - 10.0) = 1.25x");
        assertThat(run("cpu_preempted", fixture)).isEmpty();
    }

    /// The training and one other thread of it take turns on a CPU, as another program has the second.
    private static RecordingFixture squeezed(double jobCpus, double idleCpus) {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i <= 10; i++) {
            double at = i * 50;
            long ns = i * 50_000_000L;
            if (i < 10) {
                waitsForCpu(fixture, i, 100, "python3");
            }
            fixture.hostSample("cpus", "", at, 2).hostSample("cpu_busy", "", at, Math.round(ns * (2 - idleCpus)))
                    .hostSample("cpu_idle", "", at, Math.round(ns * idleCpus))
                    .processSample(100, "cpu", "", at, Math.round(ns * jobCpus));
        }
        return fixture;
    }

    @Test
    void noisyNeighbourFiresWhereOwnThreadsTakeTurnsAsOthersHaveTheOtherCpus() {
        Finding finding = only("noisy_neighbour", squeezed(0.9, 0));
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence())
                .startsWith("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while others had it, or a thread of its own, "
                        + "for which these leave no other CPU: they use 1.1 of 2; ");
        assertThat(finding.advice()).startsWith("give the training CPUs of its own");
        assertThat(run("cpu_preempted", squeezed(0.9, 0))).isEmpty();
    }

    @Test
    void noisyNeighbourIsSilentWhereTheJobHasTheCpusOrSomeAreIdle() {
        assertThat(run("noisy_neighbour", squeezed(1.8, 0))).isEmpty();
        assertThat(run("noisy_neighbour", squeezed(0.9, 0.5))).isEmpty();
    }

    @Test
    void noisyNeighbourNamesAProcessThatWasNotRecorded() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, i % 3 == 0 ? "kworker/1:2" : "stress");
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence())
                .startsWith("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while stress (pid 4711) or others had it; ");
        assertThat(finding.advice())
                .isEqualTo("keep the two apart: taskset or cpusets for pid 4711, or nice it, or move it to another machine");
        assertThat(run("cpu_preempted", fixture)).isEmpty();
    }

    @Test
    void noisyNeighbourCountsWhereThePoolOfTheTrainingHasNoCpu() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "stress");
            fixture.on(100, 107, "python3").event("sched", "off-cpu", i * 50 + 33, 12.0, "runq_ns = 12000000");
            fixture.on(100, 100, "python3");
            String innermost = i % 3 == 0 ? "at::native::add (libtorch_cpu.so)" : "[libgomp.so.1]";
            fixture.sample(i * 50 + 40, "main (/train.py:9);" + innermost);
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence())
                .isEqualTo("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while stress (pid 4711) or others had it; 9 waits "
                        + "of it and of threads that launch for it, longest 10.0 ms; in 13.3 ms more it has a CPU and waits there for "
                        + "threads of its pool that have none; saves at most 30.0 ms: 50.0 / (50.0 - 30.0) = 2.50x");
        assertThat(finding.lostMillisPerStep()).isEqualTo(23.333);
    }

    @Test
    void noisyNeighbourSaysThatTheTrainingStartedIt() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "ffmpeg");
        }
        fixture.footer(
                "zernel.processes",
                "[{\"pid\":100,\"ppid\":1,\"comm\":\"python\"},{\"pid\":4711,\"ppid\":100,\"comm\":\"ffmpeg\"}]");
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence())
                .startsWith("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while ffmpeg (pid 4711) or others had it; "
                        + "the training started it itself; 9 waits of it and of threads that launch for it, longest 10.0 ms; ");
        assertThat(finding.advice())
                .isEqualTo("start fewer of these programs, or less often: the training starts them itself; or give them CPUs of their own (taskset), or nice them");
    }

    @Test
    void noisyNeighbourSaysThatTheTrainingIsNice() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "stress");
        }
        fixture.footer("zernel.processes", "[{\"pid\":100,\"ppid\":1,\"comm\":\"python\",\"nice\":10}]");
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence()).contains("; the training has nice value 10, so it yields to programs without; ");
        assertThat(finding.advice())
                .isEqualTo("run the training without nice, or renice it (renice -n 0 -p 100); or give it CPUs of its own");
    }

    @Test
    void noisyNeighbourSaysThatTheTrainingStartedItByAShell() {
        RecordingFixture fixture = recording().training(10, 15).fork(1, 4710).on(4710, 4710, "sh").fork(2, 4711).on(100, 100, "python3");
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "ffmpeg");
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence()).contains("ffmpeg (pid 4711) or others had it; the training started it itself; ");
        assertThat(finding.advice()).startsWith("start fewer of these programs, ");
    }

    @Test
    void cpuPreemptedTellsNobodyToKeepAProcessApartFromItself() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            if (i < 8) {
                waitsForCpu(fixture, i, i < 4 ? 100 : 4700 + i, i < 4 ? "python3" : "cc1plus");
            } else {
                fixture.event("sched", "off-cpu", i * 50 + 20, 10.0, "state = 'preempted', runq_ns = 10000000");
            }
        }
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.evidence())
                .contains("; other programs had it 44 % of that time; of them cc1plus (pid 470")
                .contains(") 11 %; other threads of its process 33 %; ");
        assertThat(finding.advice())
                .isEqualTo("give the training CPUs of its own (taskset, cpusets), or run it while less else runs on the machine");
    }

    @Test
    void cpuPreemptedSaysThatTheTrainingStartsTheProgramsThatHaveTheCpu() {
        RecordingFixture fixture = recording().training(10, 15).fork(1, 4711);
        for (int i = 0; i < 10; i++) {
            if (i < 8) {
                waitsForCpu(fixture, i, i < 5 ? 4711 : 100, i < 5 ? "grep" : "python3");
            } else {
                fixture.event("sched", "off-cpu", i * 50 + 20, 10.0, "state = 'preempted', runq_ns = 10000000");
            }
        }
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.evidence())
                .contains("; programs that it started had it 44 % of that time; of them grep (pid 4711) 44 %; other threads of its process 33 %; ");
        assertThat(finding.advice()).startsWith("start fewer of these programs, ");
    }

    @Test
    void cpuPreemptedSaysThatThreadsOfAPoolForOperatorsHaveTheCpu() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            fixture.on(100, 100, "python3");
            waitsForCpu(fixture, i, 100, "python3");
            fixture.on(100, 101, "python3")
                    .sample(i * 50 + 21, "gomp_thread_start (libgomp.so.1)")
                    .sample(i * 50 + 25, "mkl_blas_sgemm (libtorch_cpu.so)");
        }
        Finding finding = only("cpu_preempted", fixture.on(100, 100, "python3"));
        assertThat(finding.evidence())
                .contains("; its own threads of OpenMP, BLAS or another pool for operators had it 100 % of that time; ");
        assertThat(finding.advice()).startsWith("fewer threads for operators (OMP_NUM_THREADS, torch.set_num_threads): ");
    }

    @Test
    void noisyNeighbourCountsShortProcessesOfOneNameTogether() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            boolean kernel = i % 3 == 0;
            waitsForCpu(fixture, i, kernel ? 15 : 4700 + i, kernel ? "rcu_preempt" : "cc1plus");
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence())
                .startsWith("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while 6 processes called cc1plus "
                        + "or others had it; ");
        assertThat(finding.advice())
                .isEqualTo("keep them apart: taskset or cpusets, or nice them, or move them to another machine");
    }

    @Test
    void noisyNeighbourBlamesNobodyWhereManyHadTheCpu() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, i % 3 == 0 ? 15 : 4711 + i, i % 3 == 0 ? "rcu_preempt" : "cc1plus" + i);
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.evidence())
                .startsWith("mean of 9 steps: 10.0 ms of 50.0 ms ready without a CPU while many others had it, most of them "
                        + "rcu_preempt with 33 %; 9 waits of it and of threads that launch for it, longest 10.0 ms; ");
        assertThat(finding.advice())
                .isEqualTo("give the training CPUs of its own (taskset, cpusets), or run it while less else runs on the machine");
    }

    @Test
    void noisyNeighbourAdvisesToUnbindATrainingThatIsBoundWhileOtherCpusAreIdle() {
        RecordingFixture fixture = recording().training(10, 15).processSample(100, "cpus_allowed", "", 0, 1);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "stress");
            fixture.hostSample("cpus", "", i * 50, 16).hostSample("cpu_busy", "", i * 50, i * 75_000_000L);
        }
        Finding finding = only("noisy_neighbour", fixture);
        assertThat(finding.value()).isEqualTo(20.0);
        assertThat(finding.evidence()).contains("; it may run on 1 of 16 CPUs, and 14.5 of all were idle; ");
        assertThat(finding.advice())
                .isEqualTo("let it run on more CPUs first: taskset, numactl, OMP_PROC_BIND or a cpuset binds it");
    }

    @Test
    void cpuPreemptedNamesTheWorkersThatHaveTheCpu() {
        RecordingFixture fixture = recording().training(10, 15).fork(1, 300);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, i < 8 ? 300 : 4711, i < 8 ? "pt_data_worker" : "stress");
        }
        fixture.on(300, 300, "pt_data_worker").io(2, 1, 10).io(480, 1, 10).sample(100, "Table.__getitem__ (/me/data.py:14)");
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.evidence()).contains("; pt_data_worker (pid 300) had it 78 % of that time; ");
        assertThat(finding.lines()).singleElement().extracting(FindingLine::text)
                .isEqualTo("100 % of what the workers run: data.py:14 Table.__getitem__");
        assertThat(finding.advice())
                .isEqualTo("fewer data workers, or more CPUs: the workers take those of the training thread");
        assertThat(run("noisy_neighbour", fixture)).isEmpty();
    }

    @Test
    void cpuPreemptedSaysThatAnotherThreadOfItsOwnHasTheCpu() {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 100, "python3");
        }
        fixture.on(100, 102, "python3").sample(100, "Logger.run (/me/log.py:7)")
                .on(100, 103, "python3").sample(130, "Condition.wait (/usr/lib/python3.12/threading.py:327)");
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.evidence()).contains("; another thread of its process had it 100 % of that time; ");
        assertThat(finding.lines()).singleElement().extracting(FindingLine::text)
                .isEqualTo("100 % of what other threads of Python run: log.py:7 Logger.run");
        assertThat(finding.advice()).startsWith("give the work of the other thread to a process");
        assertThat(run("too_many_threads", fixture)).isEmpty();
    }

    @Test
    void tooManyThreadsFiresWhereMoreThreadsThanCpusAreShortOfThem() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 10; i++) {
            for (long tid = 100; tid < 104; tid++) {
                fixture.on(100, tid, "python3");
                waitsForCpu(fixture, i, 100, "python3");
            }
        }
        Finding finding = only("too_many_threads", fixture.on(100, 100, "python3"));
        assertThat(finding.evidence())
                .contains("; other threads of its process had it 100 % of that time; 4 threads for 2 CPUs; what they lose on the CPU,");
        assertThat(finding.maxSpeedup()).isNull();
        assertThat(finding.advice())
                .isEqualTo("OMP_NUM_THREADS=2 or torch.set_num_threads(2), shared by all processes of the job on this machine");
        assertThat(run("cpu_preempted", fixture)).isEmpty();
    }

    @Test
    void tooManyThreadsSaysWhereTheyAreThreadsOfTheJobsOwn() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 10; i++) {
            for (long tid = 100; tid < 104; tid++) {
                fixture.on(100, tid, "python3");
                waitsForCpu(fixture, i, 100, "python3");
                if (tid > 100) {
                    fixture.sample(i * 50.0 + tid - 98.0, "run (/usr/lib/python3.12/threading.py:9);tokenize (/me/train.py:14)");
                }
            }
            fixture.on(100, 200, "omp").sample(i * 50 + 4, "gomp_thread_start (libgomp.so.1)");
        }
        Finding finding = only("too_many_threads", fixture.on(100, 100, "python3"));
        assertThat(finding.evidence()).endsWith(" threads for 2 CPUs; 75 % of what its other threads run is Python code, by samples");
        assertThat(finding.advice()).startsWith("fewer threads of the job's own, as max_workers of their executor: ");
        assertThat(finding.lines()).extracting(FindingLine::line).containsExactly("train.py:14 tokenize", "gomp_thread_start (libgomp.so.1)");
    }

    @Test
    void tooManyThreadsAdvisesOneLessWhereOperatorsUseNoMoreThanThereAreCpus() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 10; i++) {
            for (long tid = 100; tid < 104; tid++) {
                fixture.on(100, tid, "python3");
                waitsForCpu(fixture, i, 100, "python3");
            }
            fixture.on(100, 101, "omp").sample(i * 50 + 3, "gomp_thread_start (libgomp.so.1)")
                    .sample(i * 50 + 4, "gomp_thread_start (libgomp.so.1)")
                    .on(100, 102, "feeder").sample(i * 50 + 4, "fetch (/me/train.py:10);at::normal (libtorch_cpu.so)");
        }
        assertThat(only("too_many_threads", fixture.on(100, 100, "python3")).advice())
                .isEqualTo("OMP_NUM_THREADS=1 or torch.set_num_threads(1): operators use 2 threads now, no more than there are CPUs, "
                        + "but other threads of the job need one, too");
    }

    /// Threads that are ready together for a moment, as those of a tokenizer between batches, need no CPU of their own.
    @Test
    void tooManyThreadsDoesNotCountThreadsThatHardlyRun() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 10; i++) {
            for (long tid = 100; tid < 104; tid++) {
                fixture.on(100, tid, "python3");
                waitsForCpu(fixture, i, 100, "python3");
            }
            for (int sample = 3; sample < 6; sample++) {
                fixture.on(100, 101, "omp").sample(i * 50 + sample, "gomp_thread_start (libgomp.so.1)");
            }
        }
        fixture.on(100, 102, "tokio").sample(4, "encode (tokenizers.abi3.so)").on(100, 103, "tokio").sample(4, "encode (tokenizers.abi3.so)");
        assertThat(run("too_many_threads", fixture.on(100, 100, "python3"))).isEmpty();
    }

    @Test
    void tooManyThreadsDoesNotAdviseOnOpenMpWhereTheThreadsAreOfAnotherLibrary() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 10; i++) {
            for (long tid = 100; tid < 104; tid++) {
                fixture.on(100, tid, "python3");
                waitsForCpu(fixture, i, 100, "python3");
                if (tid > 100) {
                    fixture.sample(i * 50.0 + tid - 98.0, "gloo::transport::uv::run (libtorch_cpu.so);epoll_wait (libc.so.6)");
                }
            }
        }
        Finding finding = only("too_many_threads", fixture.on(100, 100, "python3"));
        assertThat(finding.evidence()).endsWith("what its other threads run is neither Python code nor of OpenMP or BLAS, by samples");
        assertThat(finding.advice()).startsWith("more CPUs for the job, or fewer threads of the library that the lines name: ");
    }

    @Test
    void tooManyThreadsIsSilentWhereOthersHaveTheCpu() {
        RecordingFixture fixture = recording().training(10, 15).footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "stress");
        }
        assertThat(run("too_many_threads", fixture)).isEmpty();
    }

    @Test
    void anAffinityIsBlamedWhereItKeepsAJobFromCpus() {
        RecordingFixture fixture = recording().training(10, 15).processSample(100, "cpus_allowed", "", 0, 1).fork(1, 300);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 300, "pt_data_worker");
            fixture.hostSample("cpus", "", i * 50, 2).hostSample("cpu_busy", "", i * 50, i * 50_000_000L);
        }
        fixture.on(300, 300, "pt_data_worker").io(2, 1, 10).io(480, 1, 10);
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.evidence()).contains("; it may run on 1 of 8 CPUs; ");
        assertThat(finding.advice()).startsWith("let it run on more CPUs: taskset, ");
    }

    @Test
    void aLimitThatIsUsedUpIsBlamedWhoeverRunsMeanwhile() {
        RecordingFixture fixture = recording().training(10, 15).processSample(100, "cpu_quota", "/job", 0, 500);
        for (int i = 0; i < 10; i++) {
            waitsForCpu(fixture, i, 4711, "stress");
            fixture.hostSample("cpu_busy", "", i * 50, i * 100_000_000L)
                    .hostSample("cgroup_periods", "/job", i * 50, i * 10L)
                    .hostSample("cgroup_throttled", "/job", i * 50, i * 9L);
        }
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence()).contains("; the CPU limit of 0.50 CPUs was used up in 90 % of its periods; ");
        assertThat(finding.advice()).startsWith("a higher CPU limit of the container");
        assertThat(run("noisy_neighbour", fixture)).isEmpty();
    }

    @Test
    void cpuPreemptedBlamesTheContainersLimitWhereNobodyHasTheCpu() {
        RecordingFixture fixture = preempted(10);
        waitsForCpu(fixture, 4, 4711, "stress");
        Finding finding = only("cpu_preempted", fixture);
        assertThat(finding.evidence()).contains("; no thread used a CPU that was free for it 90 % of that time; ");
        assertThat(finding.advice())
                .isEqualTo("a higher CPU limit of the container (cpu.max): CPUs were idle meanwhile");
    }

    @Test
    void cpuPreemptedAdvisesAgainstNoWorkersAndThreadsWhereThereAreNone() {
        assertThat(only("cpu_preempted", preempted(10)).advice())
                .isEqualTo("free CPUs for it: no other jobs on them, a higher limit of the container");
    }

    /// 10 ms in a step of 50 ms, while another process had the CPU.
    private static void waitsForCpu(RecordingFixture fixture, int step, long pid, String comm) {
        fixture.event("sched", "off-cpu", step * 50 + 20, 10.0, "state = 'preempted', runq_ns = 10000000, other_pid = " + pid
                + ", other_comm = '" + comm + "'");
    }

    @Test
    void noisyNeighbourIsSilentWhereNobodyElseWasRecorded() {
        assertThat(run("noisy_neighbour", preempted(10))).isEmpty();
    }

    @Test
    void gcStallFiresForPausesOutsideEveryCall() {
        Finding finding = only("gc_stall", pauses(300, false));
        assertThat(finding.value()).isEqualTo(3.0);
        assertThat(finding.unit()).isEqualTo("pauses in 39 steps");
        // 301 ms without a call, of which 4 ms are usual; three times in 39 steps.
        assertThat(finding.lostMillisPerStep()).isEqualTo(22.846);
        assertThat(finding.evidence()).startsWith("one in 13 steps, 297.0 ms each (median), 297.0 ms the longest, ");
    }

    @Test
    void gcStallIsSilentForEvenStepsAndForTimeOffTheCpu() {
        assertThat(run("gc_stall", pauses(0, false))).isEmpty();
        assertThat(run("gc_stall", pauses(300, true))).isEmpty();
    }

    @Test
    void gcStallCountsWhatAPauseRanWhereOthersTookTheCpuMeanwhile() {
        RecordingFixture fixture = pauses(300, false);
        for (double begin : new double[] {485, 1275, 2065}) {
            for (int i = 0; i < 3; i++) {
                fixture.event("sched", "off-cpu", begin + 50 + i * 80, 50.0, "state = 'preempted', runq_ns = 50000000");
            }
        }
        Finding finding = only("gc_stall", fixture);
        assertThat(finding.value()).isEqualTo(3.0);
        assertThat(finding.evidence()).startsWith("one in 13 steps, 147.0 ms each (median), 147.0 ms the longest, ");
    }

    @Test
    void gcStallFiresForCollectionsThatTheProgramAsksForAlsoWithoutAGpu() {
        RecordingFixture fixture = collections("gc.collect", 100);
        Finding finding = only("gc_stall", fixture);
        assertThat(finding.value()).isEqualTo(3.0);
        assertThat(finding.unit()).isEqualTo("collections in 39 steps");
        assertThat(finding.lostMillisPerStep()).isEqualTo(7.692);
        assertThat(finding.evidence())
                .startsWith("100.0 ms each (median), 100.0 ms the longest, 7.7 ms per step (13 %); 3 of all objects, 100 % of "
                        + "the time; gc.collect() asked for 3, one in 13 steps, 100 % of the time; saves at most 7.69 ms: ");
        assertThat(finding.advice())
                .isEqualTo("remove gc.collect() from the training loop, or call it seldom, such as between epochs");
        assertThat(run("slow_steps", fixture)).isEmpty();
    }

    @Test
    void gcStallFiresForAutomaticCollections() {
        Finding finding = only("gc_stall", collections("automatic", 100));
        assertThat(finding.evidence()).contains("; all of them automatic; ");
        assertThat(finding.advice()).startsWith("gc.freeze() after start-up, then gc.disable()");
        assertThat(only("gc_stall", collections("collection", 100)).advice())
                .startsWith("remove gc.collect() from the training loop; if there is none: gc.freeze()");
    }

    @Test
    void gcStallIsSilentForShortCollections() {
        assertThat(run("gc_stall", collections("automatic", 2))).isEmpty();
    }

    @Test
    void gcStallIsSilentForCollectionsWhileItEvaluates() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 100; i++) {
            if (i % 20 == 0) {
                for (int batch = 0; batch < 6; batch++) {
                    fixture.region(NEXT, at, 5).event("gc", "collection", at + 10, 300.0, "generation = 2");
                    at += 500;
                }
                fixture.region(NEXT, at, 0.1); // there are no more
                at += 1;
            }
            fixture.region(NEXT, at, 5).backward(at + 10, 5).region(STEP, at + 15, 5);
            at += 20;
        }
        assertThat(run("gc_stall", fixture)).isEmpty();
    }

    @Test
    void gcStallLeavesOutTimeInWhichAnotherThreadHadTheCpu() {
        RecordingFixture fixture = collections("automatic", 100)
                .alter("INSERT INTO events (kind, name, ts_ns, dur_ns, pid, tid, state, runq_ns) "
                        + "SELECT 'sched', 'off-cpu', ts_ns + 10000000, 60000000, pid, tid, 'preempted', 60000000 "
                        + "FROM events WHERE kind = 'gc'");
        assertThat(only("gc_stall", fixture).evidence()).startsWith("40.0 ms each (median), 40.0 ms the longest, ");
    }

    @Test
    void checkpointStallFiresForLongStepsThatOpenOne() {
        Finding finding = only("checkpoint_stall", checkpoints(400));
        assertThat(finding.value()).isEqualTo(2.0);
        assertThat(finding.unit()).isEqualTo("of 20 steps");
        assertThat(finding.evidence())
                .isEqualTo("each takes 400.0 ms more than the median of 50.0 ms: 40.0 ms of the mean of all steps but "
                        + "warm-up, 90.0 ms, which is 50.0 ms without steps with a checkpoint; file /out/step-10.ckpt; saves at most 40.0 ms: 90.0 / (90.0 - 40.0) = 1.80x");
    }

    @Test
    void checkpointStallSaysHowFastACheckpointIsWritten() {
        RecordingFixture fixture = checkpoints(400);
        for (double at : new double[] {450 + 10, 450 + 450 + 450 + 10}) {
            String file = ", path = '/out/step-" + (at < 500 ? 10 : 20) + ".ckpt'";
            fixture.event("io", "write", at, 100.0, "bytes = 50000000" + file)
                    .event("io", "write", at + 100, 100.0, "bytes = 30000000" + file)
                    .event("io", "fsync", at + 200, 100.0, file.substring(2))
                    .event("io", "write", at + 300, 1.0, "bytes = 7, path = '/out/log.txt'");
        }
        assertThat(only("checkpoint_stall", fixture).evidence())
                .contains("file /out/step-10.ckpt; 80.0 MB written each, 200.0 MB/s, 25 % of that time in fsync, sync and the like; saves ");
    }

    @Test
    void checkpointStallPromisesOnlyWhatAnotherThreadCanHide() {
        RecordingFixture fixture = checkpoints(400);
        for (double at : new double[] {450 + 10, 450 + 450 + 450 + 10}) {
            String file = ", path = '/out/step-" + (at < 500 ? 10 : 20) + ".ckpt'";
            fixture.event("io", "write", at, 100.0, "bytes = 80000000, io_ns = 0" + file)
                    .event("io", "fsync", at + 200, 100.0, "io_ns = 100000000" + file)
                    .event("sched", "off-cpu", at + 200, 100.0, "state = 'blocked', runq_ns = 0");
        }
        Finding finding = only("checkpoint_stall", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.savedByAdviceMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence())
                .contains("25 % of that time in fsync, sync and the like; storage blocks for 25 % of that time: another thread hides these 10.0 ms per "
                        + "step, and the other 30.0 ms only as far as a CPU is free; saves ");
    }

    @Test
    void checkpointStallIsSilentWhenStepsStayShort() {
        assertThat(run("checkpoint_stall", checkpoints(0))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/data/part-7.pt', writable = 0",
                "/venv/lib/python3.12/site-packages/torch/distributed/_composable/checkpoint_activation.py'",
                "/venv/lib/python3.12/site-packages/torch/_functorch/_activation_checkpointing'",
                "/venv/lib/python3.12/site-packages/a1_coverage.pth'",
                "/home/u/pytorch/torch/distributed/checkpoint'",
                "/tmp/torchinductor_u/ab/checkpoint_wrapper.pt', writable = 1",
                "/home/u/.triton/cache/ABC/tmp.pid_9/checkpoint_kernel', writable = 1",
                "/out/checkpoints/cache/q6/.4528.140326551374720.tmp', writable = 1",
                "/out/checkpoints/inductor/fl/cfl6k6s24', writable = 1",
                "/out/checkpoints/log.txt', writable = 1",
                "/tmp/tmpab12cd', writable = 1",
                "/out/metrics.bin', writable = 1"
            })
    void checkpointStallIsSilentForFilesThatAreNone(String path) {
        assertThat(run("checkpoint_stall", checkpoints(400, "path = '" + path))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/out/last.pth'",
                "/out/epoch=1.ckpt.tmp', writable = 1",
                "/out/last.pt.tmp8831', writable = 1",
                "/out/checkpoint-40/.tmpkOXV24'",
                "/out/checkpoint-40/tmpab12cd', writable = 1",
                "/out/checkpoint_400', writable = 1",
                "/out/ckpt/__0_0.distcp'",
                "/out/model.pth.tar', writable = 1",
                "/out/pytorch_model.bin', writable = 1"
            })
    void checkpointStallFiresForEveryUsualNameOfOne(String path) {
        assertThat(only("checkpoint_stall", checkpoints(400, "path = '" + path)).lostMillisPerStep())
                .isEqualTo(40.0);
    }

    /// As Lightning writes them.
    @Test
    void checkpointStallFiresForAFileThatIsWrittenUnderAnotherNameAndRenamed() {
        Finding finding = only("checkpoint_stall", renamed("/out/epoch=0-step=10.ckpt", true));
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.evidence()).contains("; file /out/epoch=0-step=10.ckpt; 80.0 MB written each, ");
    }

    @Test
    void checkpointStallIsSilentForARenamedFileThatIsNone() {
        assertThat(run("checkpoint_stall", renamed("/out/metrics.csv", true))).isEmpty();
        assertThat(run("checkpoint_stall", renamed("/out/epoch=0-step=10.ckpt", false))).isEmpty();
    }

    /// As a program does that writes to a name beside it.
    @Test
    void aFileThatIsNamedLikeACheckpointBeforeAndAfterIsOpenedOnce() {
        RecordingFixture fixture = checkpoints(400, "path = '/out/last.ckpt.tmp', writable = 1");
        for (double at : new double[] {450 + 10, 450 + 450 + 450 + 10}) {
            fixture.event("io", "write", at, 100.0, "bytes = 80000000, path = '/out/last.ckpt.tmp'")
                    .event("io", "rename", at + 200, 0.1, "status = 0, path = '/out/last.ckpt'");
        }
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            assertThat(database.query("SELECT path, opening_ns FROM checkpoint_steps").rows())
                    .allSatisfy(step -> {
                        assertThat(step.text("path")).isEqualTo("/out/last.ckpt.tmp");
                        assertThat(step.integer("opening_ns")).isEqualTo(100_000);
                    })
                    .hasSize(2);
        }
    }

    private static RecordingFixture renamed(String name, boolean written) {
        RecordingFixture fixture = checkpoints(400, "path = '/tmp/tmpc35jxx3w', writable = 1");
        for (double at : new double[] {450 + 10, 450 + 450 + 450 + 10}) {
            if (written) {
                fixture.event("io", "write", at, 100.0, "bytes = 80000000, path = '/tmp/tmpc35jxx3w'");
            }
            fixture.event("io", "rename", at + 200, 0.1, "status = 0, path = '" + name + "'");
        }
        return fixture;
    }

    @Test
    void checkpointStallIsSilentForAFileThatIsRead() {
        RecordingFixture fixture = checkpoints(400);
        for (int i = 1; i <= 2; i++) {
            fixture.event("io", "read", i * 500 + 400 * (i - 1) - 40, 1.0, "bytes = 4096, path = '/out/step-" + i * 10 + ".ckpt'");
        }
        assertThat(run("checkpoint_stall", fixture)).isEmpty();
    }

    @Test
    void checkpointStallIsSilentForTheFirstStep() {
        RecordingFixture fixture = recording().region(NEXT, 0, 5)
                .event("io_open", "openat", 6, 0.1, "status = 0, path = '/out/first.pt'")
                .region(STEP, 5_000, 5);
        for (int i = 1; i <= 20; i++) {
            fixture.region(NEXT, 5_005 + i * 50, 5).region(STEP, 5_045 + i * 50, 5);
        }
        assertThat(run("checkpoint_stall", fixture)).isEmpty();
    }

    @Test
    void checkpointStallCountsTheOneAfterTheLastStepWhereItsTurnHasCome() {
        RecordingFixture fixture = checkpoints(400).event("io_open", "openat", 1851, 0.1, "status = 0, path = '/out/last.ckpt'")
                .event("wait", "futex", 2300, 100.0, "status = 0");
        // The turn would be at step 30.
        assertThat(only("checkpoint_stall", fixture).value()).isEqualTo(2.0);
        RecordingFixture longer = checkpoints(400, 29, "path = '/out/last.ckpt'");
        Finding finding = only("checkpoint_stall", longer.event("io_open", "openat", 2251, 0.1, "status = 0, path = '/out/last.ckpt'")
                .event("wait", "futex", 2300, 500.0, "status = 0"));
        assertThat(finding.value()).isEqualTo(3.0);
        assertThat(finding.unit()).isEqualTo("of 29 steps");
        assertThat(finding.evidence()).contains("; the last one came after the last step; ");
        assertThat(finding.lostMillisPerStep()).isEqualTo(41.379); // 3 * 400 ms of 29 steps
    }

    @Test
    void checkpointStallCountsALastOneThatWasWrittenAfterTheLastStepWheneverThatIs() {
        RecordingFixture fixture = checkpoints(400, 22, "path = '/out/last.ckpt'")
                .event("io_open", "openat", 1905, 0.1, "status = 0, path = '/out/last.ckpt'")
                .event("io", "write", 1910, 195.0, "bytes = 80000000, path = '/out/last.ckpt'");
        Finding finding = only("checkpoint_stall", fixture);
        assertThat(finding.value()).isEqualTo(3.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(45.455); // 2 * 400 and 200 ms of 22 steps
    }

    @Test
    void checkpointStallCountsSyncAndTheTimeToOpenAFileThatIsTruncated() {
        RecordingFixture fixture = checkpoints(400, 20, "path = '/out/checkpoint-1/.tmpab12CD', dur_ns = 80000000, writable = 1");
        for (double at : new double[] {450 + 10, 450 + 450 + 450 + 10}) {
            fixture.event("io", "write", at + 100, 100.0, "bytes = 80000000, path = '/out/checkpoint-1/.tmpab12CD'")
                    .event("io", "sync", at + 200, 100.0, "status = 0");
        }
        Finding finding = only("checkpoint_stall", fixture);
        assertThat(finding.evidence())
                .contains("; folder /out/checkpoint-1; 80.0 MB written each, 200.0 MB/s, 25 % of that time in fsync, sync and the "
                        + "like; to open it takes up to 80.0 ms, as where that truncates the last one; saves at most ");
        assertThat(finding.advice()).endsWith("; write to a new name, and rename it when it is complete");
    }

    @Test
    void checkpointStallLeavesOutAnEvaluationBeforeIt() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 21; i++) {
            if (i % 10 == 0) {
                for (int batch = 0; batch < 6; batch++) {
                    fixture.region(NEXT, at, 5);
                    at += 50;
                }
                fixture.event("io_open", "openat", at, 0.1, "status = 0, path = '/out/step-" + i + ".ckpt'");
                at += 200;
            }
            fixture.region(NEXT, at, 5).backward(at + 10, 20).region(STEP, at + 45, 5);
            at += 50;
        }
        assertThat(only("checkpoint_stall", fixture).lostMillisPerStep()).isEqualTo(20.0);
    }

    @Test
    void checkpointStallLeavesOutAnEvaluationAfterIt() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 21; i++) {
            if (i % 10 == 0) {
                fixture.event("io_open", "openat", at, 0.1, "status = 0, path = '/out/step-" + i + ".ckpt'");
                at += 200;
                for (int batch = 0; batch < 6; batch++) {
                    fixture.region(NEXT, at, 5);
                    at += 50;
                }
            }
            fixture.region(NEXT, at, 5).backward(at + 10, 20).region(STEP, at + 45, 5);
            at += 50;
        }
        // Of the last batch of an evaluation only its wait is told from training: 45 ms.
        assertThat(only("checkpoint_stall", fixture).lostMillisPerStep()).isEqualTo(24.5);
    }

    @Test
    void gpuSharedFiresForAnotherProcessWithItsShare() {
        Finding finding = only("gpu_shared", shared(40, 60).footer("zernel.processes", null));
        assertThat(finding.subject()).isEqualTo("pid 100");
        assertThat(finding.value()).isEqualTo(40.0);
        assertThat(finding.unit()).isEqualTo("% of GPU 0 go to pid 777 (python3)");
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence())
                .isEqualTo("pid 777 (python3) on GPU 0 is not recorded; while training, by 10 samples of NVML, it has 40 % of the "
                        + "time and this process 60 %; the GPU is busy 100 % of the time; it holds 900 B; costs 20.0 ms to "
                        + "20.0 ms of a mean step of 50.0 ms; saves at most 20.0 ms: 50.0 / (50.0 - 20.0) = 1.67x");
    }

    @Test
    void gpuSharedCountsTheTimeBetweenTwoVisitsForNothing() {
        RecordingFixture fixture = recording().training(200, 15);
        for (int second = 1; second <= 9; second++) {
            boolean visited = second == 2 || second == 8;
            double at = second * 1000.0;
            fixture.gpuSample("utilization", at, 100, "percent")
                    .event("gpu_process", "sm", at, null, "device = 0, value = " + (visited ? 50 : 100) + ", unit = 'percent'");
            if (visited) {
                fixture.event("gpu_process", "sm", at, null, "device = 0, pid = 777, value = 50, unit = 'percent'");
            }
        }
        Finding finding = only("gpu_shared", fixture);
        // A half of two in seven seconds: when it left in two more is not known.
        assertThat(finding.lostMillisPerStep()).isEqualTo(7.194);
        assertThat(finding.evidence()).contains("it has 50 % of the time and this process 50 %, for 29 % of the training; ");
    }

    @Test
    void gpuSharedSaysThatTheOtherIsOfTheSameJob() {
        RecordingFixture fixture = shared(40, 60).footer(
                "zernel.processes", "[{\"pid\":100,\"ppid\":1},{\"pid\":777,\"ppid\":100,\"comm\":\"python3\"}]");
        assertThat(only("gpu_shared", fixture).evidence())
                .startsWith("pid 777 (python3) on GPU 0 is a process of the same job; ");
    }

    @Test
    void gpuSharedCountsLessWhereTheTrainingLeavesTheGpuIdle() {
        // Own 20 %, others 40 %, idle 40 %: the others are in the way a third of their time.
        assertThat(only("gpu_shared", shared(40, 20)).lostMillisPerStep()).isEqualTo(6.667);
    }

    @Test
    void gpuSharedGivesOnlyARangeWithoutShares() {
        RecordingFixture fixture = shared(40, 60).alter("DELETE FROM events WHERE name = 'sm'");
        Finding finding = only("gpu_shared", fixture);
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.severity()).isEqualTo("low");
        assertThat(finding.evidence()).contains("; costs 0.0 ms to 25.0 ms of a mean step of 50.0 ms; ");
    }

    @Test
    void gpuSharedIsSilentForProcessesThatHardlyUseItAndUnderMps() {
        assertThat(run("gpu_shared", shared(0, 90))).isEmpty();
        assertThat(run("gpu_shared", shared(4, 90))).isEmpty();
        assertThat(run("gpu_shared", shared(40, 60).alter("INSERT INTO events (kind, name, ts_ns, pid, comm, device, value, unit) "
                        + "SELECT kind, name, ts_ns, 9, 'nvidia-cuda-mps', device, 10, unit FROM events "
                        + "WHERE kind = 'gpu_process' AND name = 'memory_used' AND pid = 777")))
                .isEmpty();
    }

    /// Ten steps of 20 ms with one data wait of 1 ms.
    private static RecordingFixture launches(int perStep, double enqueueMs) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 10; i++) {
            fixture.region(NEXT, i * 20, 1).region(STEP, i * 20 + 15, 5);
            for (int launch = 0; launch < perStep; launch++) {
                fixture.launch("add", i * 20 + 1 + launch * 0.14, enqueueMs);
            }
        }
        return fixture;
    }

    private static RecordingFixture copies(String host) {
        RecordingFixture fixture = recording().training(11, 15);
        for (int i = 0; i < 11; i++) {
            fixture.copy("HtoD", host, i * 50 + 16, 5, 20_000_000);
        }
        return fixture;
    }

    /// Two ranks and 11 steps of 60 ms; rank 1 waits `slow` ms for data in every step, or rank 0 in every other one.
    private static RecordingFixture ranks(double slow, double usual) {
        RecordingFixture fixture = recording();
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3");
            for (int i = 0; i < 11; i++) {
                double at = i * 60;
                boolean late = usual == slow ? rank == 1 : i % 2 == rank;
                double wait = late ? slow : 1;
                fixture.region(NEXT, at, wait).backward(at + wait, 10).allReduce(rank, i, at + wait + 5, 0.1, MIB);
                fixture.region(STEP, at + 55, 5);
            }
        }
        return fixture;
    }

    private static RecordingFixture collectives(int perStep, long bytes) {
        RecordingFixture fixture = recording().training(11, 15);
        for (int i = 0; i < 11; i++) {
            for (int call = 0; call < perStep; call++) {
                fixture.allReduce(0, i * perStep + call, i * 50 + 25 + call * 0.2, 0.1, bytes);
            }
        }
        return fixture;
    }

    private static RecordingFixture waits(double waitMs) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region(NEXT, i * 50, 5).backward(i * 50 + 5, 20)
                    .event("dist_wait", "c10d::Work::wait", i * 50 + 25, waitMs, "depth = 0")
                    .region(STEP, i * 50 + 45, 5);
        }
        return fixture;
    }

    private static RecordingFixture preempted(double runqMs) {
        RecordingFixture fixture = recording().training(10, 15);
        for (int i = 0; i < 10; i++) {
            fixture.event(
                    "sched", "off-cpu", i * 50 + 20, runqMs, "state = 'preempted', runq_ns = " + Math.round(runqMs * 1e6));
        }
        return fixture;
    }

    /// A sync of 20 ms behind an all-reduce, which follows a kernel, or one more sync after that kernel.
    private static RecordingFixture syncsBehindCollectives(boolean drained) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01);
            if (drained) {
                fixture.sync(at + 3, 1);
            }
            fixture.allReduce(0, i, at + 5, 0.1, MIB).sync(at + 10, 20).region(STEP, at + 45, 5);
        }
        return fixture;
    }

    /// 40 steps with a call every 5 ms at most; steps 10, 20 and 30 pause, on the CPU or off it.
    private static RecordingFixture pauses(double pauseMs, boolean offCpu) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            fixture.region(NEXT, at, 1);
            for (int launch = 0; launch < 9; launch++) {
                fixture.launch("gemm", at + 2 + launch * 5, 1);
            }
            at += 44;
            if (i % 10 == 0 && i < 40 && pauseMs > 0) {
                if (offCpu) {
                    fixture.event("sched", "off-cpu", at, pauseMs, "state = 'sleeping', runq_ns = 0");
                }
                at += pauseMs;
            }
            fixture.launch("adam", at, 1).region(STEP, at, 5);
            at += 5;
        }
        return fixture;
    }

    /// 40 steps of 50 ms on a CPU; in every tenth but the last all objects are looked through, for a while longer.
    private static RecordingFixture collections(String name, double millis) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            fixture.region(NEXT, at, 1).backward(at + 10, 30);
            at += 44;
            if (i % 10 == 0 && i < 40) {
                fixture.event("gc", name, at, millis, "generation = 2, count = 5");
                at += millis;
            }
            fixture.region(STEP, at, 5);
            at += 6;
        }
        return fixture;
    }

    /// 21 steps of 50 ms, of which the 10th and 20th open a checkpoint and take `extraMs` longer.
    private static RecordingFixture checkpoints(double extraMs) {
        return checkpoints(extraMs, "path = '/out/step-NUMBER.ckpt'");
    }

    private static RecordingFixture checkpoints(double extraMs, String columns) {
        return checkpoints(extraMs, 21, columns);
    }

    private static RecordingFixture checkpoints(double extraMs, int steps, String columns) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= steps; i++) {
            boolean saves = i % 10 == 0;
            fixture.region(NEXT, at, 5);
            if (saves) {
                fixture.event("io_open", "openat", at + 6, 0.1, "status = 0, " + columns.replace("NUMBER", "" + i));
            }
            at += 50 + (saves ? extraMs : 0);
            fixture.region(STEP, at - 5, 5);
        }
        return fixture;
    }

    /// 200 steps of 50 ms beside pid 777, with a sample each second of both processes' percents of GPU 0.
    private static RecordingFixture shared(int others, int own) {
        RecordingFixture fixture = recording().training(200, 15);
        for (int second = 0; second <= 10; second++) {
            double at = second * 1000;
            fixture.gpuSample("utilization", at, Math.min(100, others + own), "percent")
                    .on(100, 100, "python3")
                    .event("gpu_process", "sm", at, null, "device = 0, unit = 'percent', value = " + own)
                    .event("gpu_process", "memory_used", at, null, "device = 0, unit = 'bytes', value = 5000")
                    .on(777, 777, "python3")
                    .event("gpu_process", "sm", at, null, "device = 0, unit = 'percent', value = " + others)
                    .event("gpu_process", "memory_used", at, null, "device = 0, unit = 'bytes', value = 900");
        }
        return fixture.alter("UPDATE events SET tid = NULL WHERE kind = 'gpu_process'");
    }

    @Test
    void gpuErrorsFiresForXidsWithTheirMeaningAndTheOnlyProcessOnTheGpu() {
        RecordingFixture fixture = recording()
                .gpuSample("xid", 12_500, 79, "")
                .event("gpu_process", "memory_used", 0, null, "tid = NULL, pid = 4711, device = 0, value = 5000");
        Finding finding = only("gpu_errors", fixture);
        assertThat(finding.subject()).isEqualTo("GPU 0");
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(1.0);
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence())
                .isEqualTo("XID 79: GPU has fallen off the bus, 12.5 s after the start; only pid 4711 was on the GPU");
        assertThat(finding.advice())
                .isEqualTo("take the machine out and restart it; look at power, heat and the slot of the GPU");
    }

    @Test
    void gpuErrorsFiresForAProgramsFaultAndForANumberThatIsNotKnown() {
        RecordingFixture fixture = recording()
                .gpuSample("xid", 1000, 31, "").gpuSample("xid", 2000, 31, "").gpuSample("xid", 3000, 999, "");
        assertThat(run("gpu_errors", fixture))
                .extracting(Finding::severity, Finding::evidence)
                .containsExactly(
                        tuple("high", "XID 999: see NVIDIA's list of XIDs, 3.0 s after the start"),
                        tuple("medium", "XID 31: GPU memory page fault, 2 times, first 1.0 s after the start"));
    }

    @Test
    void gpuErrorsFiresForMemoryErrorsNewAndOld() {
        RecordingFixture fixture = recording()
                .gpuSample("ecc_errors", 0, 0, "").gpuSample("ecc_errors", 1000, 3, "").gpuSample("ecc_errors", 2000, 4, "");
        assertThat(only("gpu_errors", fixture).evidence())
                .isEqualTo("memory error that ECC could not correct, 4 times, first 1.0 s after the start");
        Finding old = only("gpu_errors", recording()
                .gpuSample("ecc_errors", 0, 2, "").gpuSample("ecc_errors", 1000, 2, ""));
        assertThat(old.severity()).isEqualTo("low");
        assertThat(old.evidence()).isEqualTo("memory error that ECC could not correct, 2 since the driver was loaded, "
                + "none while it was recorded");
    }

    @Test
    void gpuErrorsIsSilentWithoutErrorsAndForCorrectedOnes() {
        assertThat(run("gpu_errors", recording()
                        .gpuSample("ecc_errors", 0, 0, "").gpuSample("ecc_errors", 1000, 0, "")
                        .gpuSample("ecc_corrected", 0, 7, "").gpuSample("ecc_corrected", 1000, 9, "")))
                .isEmpty();
    }

    private Finding only(String name, RecordingFixture fixture) {
        return fixture.finding(name, folder);
    }

    private List<Finding> run(String name, RecordingFixture fixture) {
        return fixture.findings(name, folder);
    }

    private List<Finding> findings(RecordingFixture fixture) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.diagnose().findings();
        }
    }
}
