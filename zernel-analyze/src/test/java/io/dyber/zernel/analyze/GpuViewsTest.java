package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Views of CUDA, memory, NCCL and driver samples.
class GpuViewsTest {
    @TempDir
    Path folder;

    @Test
    void launchesCountOutermostCallsByKernel() {
        RecordingFixture fixture = recording().training(3, 5) // steps of 40 ms, the first of warm-up
                .launch("gemm", 50, 0.01).launch("gemm", 51, 0.03).launch("add", 12, 0.02)
                .event("cuda_launch", "cudaLaunchKernel", 53, 0.01, "status = 700, depth = 0, func = 4096")
                .event("cuda_launch", "cudaLaunchKernel", 54, 0.01, "status = 0, depth = 0, func = 8192")
                .event("cuda_graph", "cudaGraphLaunch", 55, 0.1, "status = 0, depth = 0, count = 30")
                .event("cuda_graph", "cudaGraphInstantiate", 55, 0.1, "status = 0, depth = 0, count = 30")
                .footer("zernel.kernels", "[{\"pid\":100,\"func\":8192,\"kernel\":\"softmax\"}]");
        assertThat(query(fixture, "SELECT kernel, launches, kernels, per_step, failed, sum_ns, max_ns FROM launches"))
                .isEqualTo("""
                kernel	launches	kernels	per_step	failed	sum_ns	max_ns
                gemm	2	2	1.0	0	40000	30000
                CUDA graph	1	30	0.5	0	100000	100000
                add	1	1	0.0	0	20000	20000
                kernel at 0x1000	1	1	0.5	1	10000	10000
                softmax	1	1	0.5	0	10000	10000""");
    }

    /// Recorded in windows: from 10 to 30 ms, in the step that warms up, and from 70 to 90 ms.
    private static RecordingFixture recordedByCupti() {
        return recording().training(4, 5)
                .event("gpu_kernel", "gemm", 10, 8.0, "device = 0, stream = 7, correlation = 1, launch_ns = " + at(9))
                .event("gpu_kernel", "ncclDevKernel_AllReduce", 20, 10.0, "device = 0, stream = 9, correlation = 2, launch_ns = " + at(12))
                .event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 70, 5.0, "device = 0, stream = 7, bytes = 4096, correlation = 3")
                .event("gpu_kernel", "gemm", 80, 10.0, "device = 0, stream = 7, correlation = 4, launch_ns = " + at(79))
                .footer("zernel.gpu_activity", """
                        {"why":"","processes":[{"pid":100,"error_ns":500,"windows":[
                        {"start_ns":%d,"end_ns":%d,"activities":2},{"start_ns":%d,"end_ns":%d,"activities":2}]}]}"""
                        .formatted(at(10), at(30), at(70), at(90)));
    }

    private static long at(double millis) {
        return RecordingFixture.START_NS + Math.round(millis * 1e6);
    }

    @Test
    void whatWasRecordedByCuptiIsAsATraceOfEachWindow() {
        assertThat(query(recordedByCupti(), "SELECT path, pid, activities, clock, shift_ns, error_ns FROM gpu_traces"))
                .isEqualTo("""
                path	pid	activities	clock	shift_ns	error_ns
                null	100	2	cupti	0	500
                null	100	2	cupti	0	500""");
        assertThat(query(recordedByCupti(), "SELECT in_steps, profiled_ns, compute_ns, exposed_communication_ns, exposed_copy_ns, idle_ns FROM gpu_time"))
                .isEqualTo("""
                in_steps	profiled_ns	compute_ns	exposed_communication_ns	exposed_copy_ns	idle_ns
                true	20000000	10000000	0	5000000	5000000""");
        assertThat(query(recordedByCupti(), "SELECT name, runs, sum_ns, delay_p50_ns FROM gpu_kernels ORDER BY name LIMIT 2"))
                .isEqualTo("""
                name	runs	sum_ns	delay_p50_ns
                Memcpy HtoD (Pinned -> Device)	1	5000000	null
                gemm	1	10000000	1000000""");
        assertThat(query(recordedByCupti(), "SELECT sum(idle_ns) AS idle_ns FROM gpu_idle_causes")).isEqualTo("idle_ns\n5000000");
    }

    /// What ran before the first step that counts says nothing about a step.
    @Test
    void onlyWhatTheGpuDidInTrainingSaysHowBusyItIs() {
        RecordingFixture fixture = recording().training(12, 5);
        String[] trained = query(fixture, "SELECT CAST((start_ns - " + at(0) + ") / 1e6 AS BIGINT) AS first, "
                        + "CAST((end_ns - start_ns) / 1e6 AS BIGINT) AS length FROM _trained")
                .split("[\t\n]", -1);
        double first = Double.parseDouble(trained[2]);
        double length = Double.parseDouble(trained[3]);
        fixture.event("gpu_kernel", "start_up", 0, first, "device = 0, stream = 7, correlation = 1")
                .event("gpu_kernel", "gemm", first, length / 4, "device = 0, stream = 7, correlation = 2")
                .event("gpu_kernel", "gemm", first + 3 * length / 4, length / 4, "device = 0, stream = 7, correlation = 3")
                .footer("zernel.gpu_activity", """
                        {"why":"","processes":[{"pid":100,"error_ns":500,"windows":[{"start_ns":%d,"end_ns":%d,"activities":3}]}]}"""
                        .formatted(at(0), at(first + length)));
        assertThat(query(fixture, "SELECT round(busy, 3) AS busy, samples FROM gpu_busy")).isEqualTo("busy	samples\n0.5	0");
    }

    @Test
    void aCallCountsOnceWhicheverLayersWereRecorded() {
        String name = "status = 0, kernel = 'gemm', func = 4096, depth = ";
        String copy = "status = 0, async = 1, bytes = 500, copy_kind = 'HtoD', host_memory = 'pageable', depth = ";
        String counts = "SELECT (SELECT list(kernel || ' ' || launches) FROM launches) AS launches, "
                + "(SELECT list(copies || ' ' || host_memory) FROM copies) AS copies, "
                + "(SELECT list(launches) FROM step_work) AS steps";
        for (int form = 0; form < 3; form++) { // the runtime only, both, the driver only
            RecordingFixture fixture = recording().training(2, 5);
            for (double at : new double[] {10, 11, 50}) {
                if (form < 2) {
                    fixture.event("cuda_launch", "__cudaLaunchKernel", at, 0.3, name + 0)
                            .event("cuda_launch", "cudaLaunchKernel", at + 0.05, 0.2, name + 1)
                            .event("cuda_copy", "cudaMemcpyAsync", at + 0.5, 0.3, copy + 0);
                }
                if (form > 0) {
                    int depth = form == 1 ? 1 : 0;
                    fixture.event("cuda_launch", "cuLaunchKernel", at + 0.1, 0.1, name + 2 * depth)
                            .event("cuda_copy", "cuMemcpyHtoDAsync_v2", at + 0.6, 0.1, copy + depth);
                }
            }
            assertThat(query(fixture, counts)).as("form " + form)
                    .isEqualTo("launches\tcopies\tsteps\n[gemm 3]\t[3 pageable]\t[2, 1]");
        }
    }

    @Test
    void aKernelThatOnlyTheDriverNamesHasThatName() {
        RecordingFixture fixture = recording()
                .event("cuda_launch", "__cudaLaunchKernel", 1, 0.3, "status = 0, depth = 0, func = 4096")
                .event("cuda_launch", "cuLaunchKernel", 1.1, 0.1, "status = 0, depth = 1, func = 77, kernel = 'gemm'")
                .event("cuda_launch", "__cudaLaunchKernel", 2, 0.3, "status = 0, depth = 0, func = 4096")
                .event("cuda_launch", "__cudaLaunchKernel", 3, 0.3, "status = 0, depth = 0, func = 8192");
        assertThat(query(fixture, "SELECT kernel, launches FROM launches"))
                .isEqualTo("kernel\tlaunches\ngemm\t2\nkernel at 0x2000\t1");
    }

    @Test
    void copiesAreSummedByDirectionAndHostMemory() {
        RecordingFixture fixture = recording().copy("HtoD", "pageable", 0, 2, 1000).copy("HtoD", "pageable", 5, 4, 3000)
                .copy("HtoD", "pinned", 10, 0.5, 500)
                .event("cuda_copy", "cuMemcpyHtoDAsync_v2", 10, 0.1, "depth = 1, bytes = 500, copy_kind = 'HtoD'");
        assertThat(query(fixture, "SELECT copy_kind, async, host_memory, copies, per_step, bytes, sum_ns FROM copies"))
                .isEqualTo("""
                copy_kind	async	host_memory	copies	per_step	bytes	sum_ns
                HtoD	1	pageable	2	null	4000	6000000
                HtoD	1	pinned	1	null	500	500000""");
    }

    /// The model is moved to the GPU before the first batch, and what warms up waits more often.
    @Test
    void copiesAndWaitsOfAStepAreThoseOfTrainingSteps() {
        RecordingFixture fixture = recording().training(5, 5); // steps of 40 ms, the first of warm-up
        for (int i = 0; i < 8; i++) {
            fixture.copy("HtoD", "pageable", 5 + i, 0.2, 1000).sync(20 + i, 0.5);
        }
        for (int step = 1; step < 5; step++) {
            fixture.copy("HtoD", "pinned", 40 * step + 10, 0.1, 500).sync(40 * step + 20, 2).sync(40 * step + 25, 2);
        }
        assertThat(query(fixture, "SELECT host_memory, copies, per_step FROM copies ORDER BY copies"))
                .isEqualTo("host_memory\tcopies\tper_step\npinned\t4\t1.0\npageable\t8\t0.0");
        assertThat(query(fixture, "SELECT syncs, per_step FROM syncs")).isEqualTo("syncs\tper_step\n16\t2.0");
    }

    /// A training of five steps of 40 ms that begins with a batch, 100 ms after `start`.
    private static RecordingFixture trainingAfter(RecordingFixture start) {
        for (double at = 100; at < 300; at += 40) {
            start.region(NEXT, at, 5).backward(at + 15, 20).region(STEP, at + 35, 5);
        }
        return start;
    }

    @Test
    void aFirstStepThatBeginsWithACallOfTheGpuHoldsTheStartUp() {
        String query = "SELECT first_step_ns // 1000000 AS ms, starts_up FROM training_threads";
        assertThat(query(trainingAfter(recording().gpuAlloc(10, 1, 1000, 0)), query)).isEqualTo("ms\tstarts_up\n130\ttrue");
        assertThat(query(trainingAfter(recording()), query)).isEqualTo("ms\tstarts_up\n40\tfalse");
    }

    @Test
    void theLaunchesThatUnknownsSpeakOfAreThoseOfAMeanTrainingStep() {
        RecordingFixture fixture = recording().training(5, 5);
        for (int i = 0; i < 40; i++) {
            fixture.launch("cast", 5 + 0.1 * i, 0.05);
        }
        for (int step = 1; step < 5; step++) {
            fixture.launch("gemm", 40 * step + 10, 1).launch("gemm", 40 * step + 12, 2);
        }
        assertThat(query(fixture, "SELECT bounds FROM unknowns WHERE question = 'how long kernels run'"))
                .isEqualTo("bounds\nto enqueue the 2 launches of a step takes 3.0 ms, which says nothing of how long they run");
    }

    @Test
    void whatTheDriverSamplesOfAGpuIsToldOfTheTrainingToo() {
        RecordingFixture fixture = recording().training(100, 15);
        for (int i = -10; i < 5; i++) {
            fixture.gpuSample("power", i * 1000, i < 1 ? 70_000 : 400_000, "mW");
        }
        assertThat(query(fixture, "SELECT name, samples, min_value, trained_samples, trained_value FROM gpu_usage"))
                .isEqualTo("name\tsamples\tmin_value\ttrained_samples\ttrained_value\npower\t15\t70000\t4\t400000.0");
    }

    /// `cuMemFree(NULL)` is allowed, releases nothing, and is of no device.
    @Test
    void aReleaseOfNothingIsNoMemoryOfAnyDevice() {
        RecordingFixture fixture = recording().gpuAlloc(0, 1, 1000, 0)
                .event("gpu_free", "cuMemFree_v2", 5, 0.1, "status = 0, depth = 0, addr = 0, bytes = 0");
        assertThat(query(fixture, "SELECT device, allocs, frees, peak_bytes FROM memory_use"))
                .isEqualTo("device\tallocs\tfrees\tpeak_bytes\n0\t1\t0\t1000");
    }

    @Test
    void syncsSayWhatTheyWaitFor() {
        RecordingFixture fixture = recording()
                .launch("gemm", 0, 0.1).sync(1, 5)
                .allReduce(0, 0, 10, 1, 400).launch("ncclDevKernel", 10.5, 0.1).sync(12, 7)
                .copy("DtoH", "pageable", 20, 3, 4).sync(24, 0.5)
                .launch("gemm", 30, 0.1).copy("DtoH", "pageable", 31, 2, 4).copy("DtoH", "pinned", 34, 1, 4);
        assertThat(query(fixture, "SELECT name, waits_for, syncs, sum_ns // 1000 AS us FROM syncs")).isEqualTo("""
                name	waits_for	syncs	us
                cudaStreamSynchronize	collective	2	7500
                cudaStreamSynchronize	compute	1	5000
                cudaMemcpyAsync	collective	1	3000
                cudaMemcpyAsync	compute	1	2000""");
    }

    @Test
    void phasesCountSyncsForWhatTheyWaitFor() {
        RecordingFixture fixture = recording().region(NEXT, 0, 10)
                .launch("gemm", 11, 1).sync(20, 10)
                .backward(30, 20).allReduce(0, 0, 32, 2, 400)
                .region(STEP, 50, 20).sync(52, 8)
                .event("dist_wait", "c10d::Work::wait", 70, 5.0, "depth = 0")
                .event("dist_wait", "c10d::Work::wait", 71, 3.0, "depth = 1")
                .region(NEXT, 75, 5).sync(76, 2);
        assertThat(query(fixture, "SELECT phase, total_ns // 1000000 AS ms FROM phases")).isEqualTo("""
                phase	ms
                DataLoading	15
                GpuCompute	38
                NcclCollective	15
                OptimizerStep	12
                Unknown	0""");
        assertThat(query(fixture, "SELECT part, total_ns // 1000000 AS ms FROM phase_parts WHERE phase = 'GpuCompute'"))
                .isEqualTo("part\tms\nbackward\t18\nforward\t10\ngpu_wait\t10");
    }

    @Test
    void liveDeviceMemoryIsTheRunningSum() {
        RecordingFixture fixture = recording()
                .gpuAlloc(0, 1, 1000, 0).gpuAlloc(2, 1, 500, 0).gpuFree(4, 1, "1000")
                .gpuAlloc(6, 1, 9999, 2) // out of memory
                .gpuFree(8, 1, "NULL") // allocated before recording began
                .event("gpu_alloc", "cuMemAlloc_v2", 0, 0.5, "status = 0, depth = 1, device = 0, bytes = 1000")
                .event("gpu_free", "cudaFree", 9, 0.1, "status = 0, depth = 0, device = 0, addr = 0")
                .torchAlloc(3, 300).torchAlloc(4, 100).torchFree(5, 300);
        assertThat(query(fixture, "SELECT (at_ns - 1800000000000000000) // 1000000 AS ms, change_bytes, live_bytes "
                        + "FROM device_memory ORDER BY at_ns"))
                .isEqualTo("ms\tchange_bytes\tlive_bytes\n1\t1000\t1000\n3\t500\t1500\n5\t-1000\t500");
        assertThat(query(fixture, "SELECT allocated_bytes FROM torch_memory ORDER BY at_ns"))
                .isEqualTo("allocated_bytes\n300\n400\n100");
        assertThat(query(fixture, "SELECT device, allocs, frees, unknown_frees, failed_allocs, failed_bytes, "
                        + "peak_bytes, end_bytes, torch_allocs, torch_peak_bytes, torch_end_bytes FROM memory_use"))
                .isEqualTo("""
                device	allocs	frees	unknown_frees	failed_allocs	failed_bytes	peak_bytes	end_bytes	\
                torch_allocs	torch_peak_bytes	torch_end_bytes
                0	2	1	1	1	9999	1500	500	2	400	100""");
    }

    @Test
    void aHandleThatIsReleasedOnceMoreIsNoMemoryFromBeforeRecording() {
        String handle = "status = 0, depth = 0, addr = 77, device = ";
        RecordingFixture fixture = recording()
                .event("gpu_alloc", "cuMemCreate", 0, 0.1, handle + "0, bytes = 1000")
                .event("gpu_free", "cuMemRelease", 1, 0.1, handle + "0, bytes = 1000")
                .event("gpu_free", "cuMemRelease", 2, 0.1, handle + "NULL, bytes = NULL")
                .event("gpu_free", "cuMemFree_v2", 3, 0.1, "status = 0, depth = 0, addr = 0, bytes = 0");
        assertThat(query(fixture, "SELECT device, allocs, frees, unknown_frees, peak_bytes FROM memory_use"))
                .isEqualTo("""
                device	allocs	frees	unknown_frees	peak_bytes
                0	1	1	0	1000""");
    }

    @Test
    void theMemoryCurveKeepsTheLastLevel() {
        RecordingFixture fixture = recording().gpuAlloc(0, 0, 1000, 0).gpuAlloc(30, 0, 500, 0).gpuFree(60, 0, "1500");
        assertThat(query(fixture, "SELECT live_bytes, count(*) AS points, min(point) AS first FROM memory_curve "
                        + "GROUP BY ALL ORDER BY first"))
                .isEqualTo("live_bytes\tpoints\tfirst\n1000\t30\t0\n1500\t30\t30");
    }

    @Test
    void collectivesAreMatchedAcrossRanksWhateverTheirProcess() {
        RecordingFixture fixture = recording()
                .allReduce(0, 0, 10, 0.1, 4000).allReduce(0, 1, 20, 0.1, 4000).allReduce(0, 2, 30, 0.1, 8_000_000)
                .on(101, 101, "python3")
                .allReduce(1, 0, 12, 0.1, 4000).allReduce(1, 1, 25, 0.1, 4000).allReduce(1, 2, 29, 0.1, 8_000_000);
        assertThat(query(fixture, "SELECT number, ranks, hosts, skew_ns // 1000 AS skew_us, late_rank, late_pid "
                        + "FROM collective_arrivals ORDER BY number"))
                .isEqualTo("""
                number	ranks	hosts	skew_us	late_rank	late_pid
                0	2	1	2000	1	101
                1	2	1	5000	1	101
                2	2	1	1000	0	100""");
        assertThat(query(fixture, "SELECT comm_id, name, op, size, nranks, ranks, calls, bytes, sum_ns, skew_p50_ns, "
                        + "late_rank FROM collectives"))
                .isEqualTo("""
                comm_id	name	op	size	nranks	ranks	calls	bytes	sum_ns	skew_p50_ns	late_rank
                77	ncclAllReduce	sum	< 64 KiB	2	2	4	16000	400000	3500000	1
                77	ncclAllReduce	sum	< 16 MiB	2	2	2	16000000	200000	1000000	0""");
    }

    @Test
    void sendsAndReceivesDoNotShiftTheNumbersOfCollectives() {
        String send = "depth = 0, communicator = 500, comm_id = 77, nranks = 2, rank = 0, peer = 1, bytes = 8, seq = 0";
        RecordingFixture fixture = recording()
                .event("nccl", "ncclSend", 5, 0.1, send).allReduce(0, 1, 10, 0.1, 4000)
                .on(101, 101, "python3").allReduce(1, 0, 12, 0.1, 4000);
        assertThat(query(fixture, "SELECT number, ranks, skew_ns FROM collective_arrivals"))
                .isEqualTo("number\tranks\tskew_ns\n0\t2\t2000000");
    }

    @Test
    void stepWorkIsThatOfTheWholeProcess() {
        RecordingFixture fixture = recording().training(2, 5) // steps of 40 ms
                .launch("gemm", 10, 0.01).launch("gemm", 50, 0.01).sync(45, 3).gpuAlloc(60, 1, 100, 0)
                .on(100, 109, "pt_autograd_0").launch("gemm_backward", 20, 0.02).allReduce(0, 0, 21, 0.5, 4000);
        assertThat(query(fixture, "SELECT step, launches, launch_ns, syncs, sync_ns, allocs, alloc_ns, collectives, "
                        + "collective_bytes FROM step_work"))
                .isEqualTo("""
                step	launches	launch_ns	syncs	sync_ns	allocs	alloc_ns	collectives	collective_bytes
                1	2	30000	0	0	0	0	1	4000
                2	1	10000	1	3000000	1	1000000	0	0""");
    }

    @Test
    void timeInWhichSmsHadWorkIsALeastUseOfTheGpu() {
        // Samples of utilization that vary leave room for an idle GPU; counters do not.
        RecordingFixture few = recording().training(200, 15);
        RecordingFixture more = recording().training(200, 15);
        for (int i = 0; i < 4; i++) {
            few.gpuSample("utilization", 500 + i * 1000, i == 1 ? 20 : 80, "percent");
            more.gpuSample("utilization", 500 + i * 1000, i == 1 ? 20 : 80, "percent")
                    .gpuSample("sm_active", 500 + i * 1000, 700_000 + i * 1000, "ppm");
        }
        String query = "SELECT round(busy, 2) AS busy, round(least_busy, 2) AS least, round(most_busy, 2) AS most FROM gpu_busy";
        assertThat(query(few, query)).isEqualTo("busy\tleast\tmost\n0.6\t0.0\t1.0");
        assertThat(query(more, query)).isEqualTo("busy\tleast\tmost\n0.7\t0.7\t1.0");
    }

    @Test
    void samplesThatTheDriverTakesByItselfCountInsteadOfWhatItSaysEachSecond() {
        RecordingFixture fixture = recording().training(50, 15); // 2 s
        for (int i = 0; i < 3; i++) {
            fixture.gpuSample("utilization", i * 1000, 90, "percent");
        }
        for (int i = -10; i < 20; i++) {
            fixture.gpuSample("busy", i * 200, i <= 0 ? 0 : i % 2 == 0 ? 36 : 30, "percent");
        }
        assertThat(query(fixture, """
                SELECT samples, round(train_busy, 2) AS busy, round(least_train_busy, 2) AS least,
                    round(most_train_busy, 2) AS most FROM gpu_busy
                """)).isEqualTo("samples\tbusy\tleast\tmost\n11\t0.33\t0.28\t0.38");
    }

    @Test
    void countersAreMeansOfTheIntervalsInTraining() {
        RecordingFixture fixture = recording().training(100, 15);
        for (int i = 0; i <= 6; i++) {
            double at = i * 1000;
            fixture.gpuSample("sm_active", at, i < 1 || i > 5 ? 0 : 600_000 + i * 10_000, "ppm")
                    .gpuSample("tensor_active", at, i == 3 ? 250_000 : 200_000, "ppm")
                    .gpuSample("nvlink_tx", at, 4_000_000_000L, "bytes/s");
        }
        fixture.event("gpu_sample", "sm_active", 3000, null, "device = 1, object = '3', value = 400000, unit = 'ppm'")
                .event("gpu_process", "sm", 500, null, "device = 0, pid = 100, value = 50, unit = 'percent'");
        assertThat(query(fixture, """
                SELECT device, pid, instance, samples, round(sm_active, 3) AS sms, round(tensor_active, 3) AS tensor,
                    most_tensor_active AS most, nvlink_tx, dram_active FROM gpu_counters
                """)).isEqualTo("""
                device\tpid\tinstance\tsamples\tsms\ttensor\tmost\tnvlink_tx\tdram_active
                0\t100\tnull\t5\t0.63\t0.21\t0.25\t4.0E9\tnull
                1\tnull\t3\t1\t0.4\tnull\tnull\tnull\tnull""");
        assertThat(query(fixture, "SELECT instance, name, max_value FROM gpu_usage WHERE device = 1"))
                .isEqualTo("instance\tname\tmax_value\n3\tsm_active\t400000");
    }

    @Test
    void aProcessOfOneRankWaitsForNoCommunication() {
        for (int ranks = 1; ranks <= 2; ranks++) {
            RecordingFixture fixture = recording().training(20, 5);
            for (int step = 0; step < 20; step++) {
                fixture.launch("gemm", step * 40 + 6, 0.1)
                        .event("nccl", "ncclAllReduce", step * 40 + 16, 0.1, "status = 0, depth = 0, comm_id = 77, rank = 0, seq = "
                                + step + ", bytes = 1000, nranks = " + ranks)
                        .sync(step * 40 + 20, 10);
            }
            assertThat(query(fixture, "SELECT count(*) AS n FROM unknowns WHERE question = 'how much communication overlaps with compute'"))
                    .isEqualTo("n\n" + (ranks - 1));
        }
    }

    @Test
    void distWaitsAndMarksAndGpus() {
        RecordingFixture fixture = recording().training(2, 5)
                .event("dist_wait", "c10d::Work::wait", 10, 2.0, "depth = 0")
                .event("mark", "evaluation begins", 45, null, "")
                .gpuSample("utilization", 0, 40, "percent").gpuSample("utilization", 1000, 60, "percent")
                .event("gpu_process", "memory_used", 0, null, "device = 0, value = 7, unit = 'bytes'")
                .footer("zernel.gpus", """
                        {"driver":"570.1","devices":[{"index":0,"name":"H200","uuid":"GPU-1","memory_total":150}]}
                        """);
        assertThat(query(fixture, "SELECT name, waits, per_step, sum_ns FROM dist_waits"))
                .isEqualTo("name\twaits\tper_step\tsum_ns\nc10d::Work::wait\t1\t0.5\t2000000");
        assertThat(query(fixture, "SELECT after_ns // 1000000 AS ms, text, step FROM marks"))
                .isEqualTo("ms\ttext\tstep\n45\tevaluation begins\t2");
        assertThat(query(fixture, "SELECT device, name, unit, samples, min_value, mean_value, max_value, last_value FROM gpu_usage"))
                .isEqualTo("device\tname\tunit\tsamples\tmin_value\tmean_value\tmax_value\tlast_value\n"
                        + "0\tutilization\tpercent\t2\t40\t50.0\t60\t60");
        assertThat(query(fixture, "SELECT device, pid, comm, name, max_value FROM gpu_process_usage"))
                .isEqualTo("device\tpid\tcomm\tname\tmax_value\n0\t100\tpython3\tmemory_used\t7");
        assertThat(query(fixture, "SELECT device, name, memory_bytes, driver FROM gpus"))
                .isEqualTo("device\tname\tmemory_bytes\tdriver\n0\tH200\t150\t570.1");
    }

    @Test
    void percentilesSayWhatTheTimeOfGpuCallsIs() {
        RecordingFixture fixture = recording().launch("gemm", 0, 0.01).sync(1, 2).allReduce(0, 0, 5, 1, 8)
                .copy("HtoD", "pinned", 8, 0.5, 1)
                .event("cuda_copy", "cudaMemcpy", 9, 1.0, "depth = 0, async = 0")
                .gpuSample("power", 0, 1, "mW");
        assertThat(query(fixture, "SELECT name, time, count FROM percentiles ORDER BY name")).isEqualTo("""
                name	time	count
                cudaLaunchKernel	enqueue	1
                cudaMemcpy	blocked	1
                cudaMemcpyAsync	enqueue	1
                cudaStreamSynchronize	blocked	1
                ncclAllReduce	enqueue	1""");
    }

    @Test
    void sampledLaunchesAreScaledUpAndCounted() {
        RecordingFixture fixture = recording().training(2, 5) // steps of 40 ms
                .launch("gemm", 10, 0.01).launch("gemm", 50, 0.01).launch("gemm", 55, 0.02)
                .event("cuda_launch", "cuLaunchKernel", 0, 80.0, "depth = 0, count = 27")
                .event("torch_alloc", "pytorch:malloc", 0, 80.0, "count = 5").torchAlloc(5, 100)
                .allReduce(0, 0, 60, 1, 8).sync(65, 5);
        assertThat(query(fixture, "SELECT pid, kernel, launches, sum_ns FROM launches"))
                .isEqualTo("pid\tkernel\tlaunches\tsum_ns\n100\tgemm\t3\t40000\nnull\tnot recorded, only counted\t27\tnull");
        assertThat(query(fixture, "SELECT step, launches, launch_ns FROM step_work"))
                .isEqualTo("step\tlaunches\tlaunch_ns\n1\t10\t100000\n2\t20\t300000");
        // What was enqueued last is not known, and neither is what PyTorch has handed out.
        assertThat(query(fixture, "SELECT waits_for FROM syncs")).isEqualTo("waits_for\ncompute");
        assertThat(query(fixture, "SELECT at_ns FROM torch_memory")).isEqualTo("at_ns");
        assertThat(query(fixture, "SELECT count FROM percentiles WHERE kind = 'cuda_launch'")).isEqualTo("count\n3");
    }

    private String query(RecordingFixture fixture, String sql) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }
}
