package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.api.io.TempDir;

/// Each finding fires on a recording with its problem and is silent on one without.
class FindingsTest {
    @TempDir
    Path folder;

    @Test
    void dataBoundFiresWithItsArithmetic() {
        RecordingFixture fixture = busyWorker().footer("zernel.recording", "{\"complete\":true,\"cpus\":1}");
        Finding finding = only("data_bound", fixture);
        assertThat(finding.subject()).isEqualTo("pid 100");
        assertThat(finding.value()).isEqualTo(30.0);
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        // 50 ms / (50 ms - 15 ms)
        assertThat(finding.maxSpeedup()).isEqualTo(1.43);
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: 15.0 ms waiting of 50.0 ms; "
                        + "1 worker: 20 % waiting for an index, 0 % blocked elsewhere, 2 % in reads, at most 78 % on the CPU; "
                        + "the job leaves 0.0 of 1 CPUs (what else uses them was not measured); "
                        + "saves at most 15.0 ms: 50.0 / (50.0 - 15.0) = 1.43x");
        assertThat(finding.advice())
                .isEqualTo("make the samples cheaper: num_workers=2 would keep up, but no CPU core is free");
    }

    @Test
    void dataBoundCountsAWaitForACpuInsideTheWaitForDataOnce() {
        RecordingFixture fixture = busyWorker().footer("zernel.recording", "{\"complete\":true,\"cpus\":1}");
        for (int i = 0; i < 11; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 3, 10.0, "state = 'sleeping', runq_ns = 4000000, other_pid = 200")
                    .event("sched", "off-cpu", i * 50 + 17, 5.0, "state = 'preempted', runq_ns = 5000000, other_pid = 200");
        }
        Finding finding = only("data_bound", fixture);
        assertThat(finding.evidence()).contains("; 5.0 ms more without a CPU that workers have");
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
    }

    /// A thread of its own has the CPU for 3 ms of a step, as the worker has the other one; in half of the steps it waits for its pool.
    @Test
    void dataBoundCountsWhatThreadsOfTheComputationTakeFromEachOtherAsWorkersHaveTheRest() {
        RecordingFixture fixture = busyWorker().footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        String operator = "main (/me/a.py:9);Linear.forward (/v/site-packages/torch/nn/modules/linear.py:1);";
        for (int i = 0; i < 11; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 17, 5.0, "state = 'preempted', runq_ns = 5000000, other_pid = 200")
                    .event("sched", "off-cpu", i * 50 + 23, 3.0, "state = 'preempted', runq_ns = 3000000, other_pid = 100")
                    .sample(i * 50 + 34, operator + (i % 2 == 0 ? "[libgomp.so.1]" : "sgemm (libtorch_cpu.so)"))
                    .on(100, 104, "python3").event("sched", "off-cpu", i * 50 + 28, 20.0, "state = 'preempted', runq_ns = 20000000, other_pid = 200")
                    .on(100, 100, "python3");
        }
        Finding finding = only("data_bound", fixture);
        assertThat(finding.evidence()).contains(" more, as workers have CPUs that the threads of its own computation need");
        // The wait, all of the 8 ms and what it waits for its pool, by samples; at least the 5 ms; at most all that its pool has no CPU.
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.lostMillisPerStep()).isBetween(15.0 + 8.0 + 8.0, 15.0 + 8.0 + 12.0);
        assertThat(finding.maxSpeedup()).isGreaterThan(4.0); // 50 ms / (50 ms - 38 ms)
    }

    @Test
    void dataBoundCountsWhatWorkersTakeFromTheThreadsOfTheComputation() {
        RecordingFixture fixture = busyWorker().footer("zernel.recording", "{\"complete\":true,\"cpus\":2}");
        for (int i = 0; i < 11; i++) {
            fixture.hostSample("cpus", "", i * 50, 2)
                    .hostSample("cpu_busy", "", i * 50, i * 100_000_000L)
                    .processSample(100, "cpu_idle", "", i * 50, 0)
                    .processSample(100, "cpu", "", i * 50, i * 75_000_000L)
                    .on(100, 100, "python3")
                    .event("sched", "off-cpu", i * 50 + 20, 10.0, "state = 'preempted', runq_ns = 10000000, other_pid = 100")
                    .on(100, 101, "python3")
                    .event("sched", "off-cpu", i * 50 + 32, 8.0, "state = 'preempted', runq_ns = 8000000, other_pid = 100")
                    .event("sched", "off-cpu", i * 50 + 5, 4.0, "state = 'preempted', runq_ns = 4000000, other_pid = 200");
        }
        Finding finding = only("data_bound", fixture.on(100, 100, "python3"));
        // Of the training thread's 10 ms without a CPU at least a part is the worker's; at most all, and 8 ms of its thread.
        assertThat(finding.evidence()).contains(" to 18.0 ms more, as workers have CPUs that the threads of its own computation need; ");
        assertThat(finding.evidence()).endsWith("saves at most 33.0 ms: 50.0 / (50.0 - 33.0) = 2.94x");
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(15.0);
    }

    @Test
    void dataBoundFiresForFetchesThatTakeManyTimesAsLongAsTheUsualOne() {
        RecordingFixture fixture = recording().training(40, 15).fork(0, 200).fork(0, 201);
        for (int worker = 200; worker < 202; worker++) {
            fixture.on(worker, worker, "pt_data_worker");
            for (int i = 0; i < 20; i++) {
                double fetch = worker == 200 && i % 4 == 2 ? 80 : 1;
                fixture.event("wait", "poll", i * 100 + fetch, 99 - fetch, "status = 0, object = 'pipe:[7]'");
            }
        }
        Finding finding = only("data_bound", fixture.on(100, 100, "python3"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.evidence()).contains("; 5 of 36 fetches of theirs take 81.0 ms, the median of all is 2.0 ms; ");
        assertThat(finding.advice())
                .isEqualTo("the longest fetches hold up batches that come after them: in_order=False (PyTorch 2.6 or newer), "
                        + "a larger prefetch_factor or more workers; or make these samples cheaper");
    }

    @Test
    void dataBoundBlamesAnAffinityThatKeepsAJobFromCpus() {
        Finding finding = only("data_bound", boundToOne(1));
        assertThat(finding.evidence()).contains("; 0.0 of 2 CPUs were idle; it may run on 1 of them; ");
        assertThat(finding.advice()).startsWith("let it and its workers run on more CPUs (taskset, ");
        // Of 50 ms, the 39 ms of CPU time that the worker takes for a step are left.
        assertThat(finding.lostMillisPerStep()).isEqualTo(11.0);
    }

    @Test
    void dataBoundBlamesNoAffinityWhereOthersUseTheOtherCpus() {
        Finding finding = only("data_bound", boundToOne(2));
        assertThat(finding.evidence()).contains("; 0.0 of 2 CPUs were idle; it may run on 1 of them; ");
        assertThat(finding.advice()).isEqualTo("make the samples cheaper: num_workers=2 would keep up, but no CPU core is free");
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
    }

    /// A job that may run on one of two CPUs, of which so many are busy.
    private static RecordingFixture boundToOne(long busyCpus) {
        RecordingFixture fixture = busyWorker().processSample(100, "cpus_allowed", "", 0, 1);
        for (int i = 0; i < 10; i++) {
            fixture.hostSample("cpus", "", i * 50, 2)
                    .hostSample("cpu_busy", "", i * 50, i * busyCpus * 50_000_000L)
                    .processSample(100, "cpu_idle", "", i * 50, 0);
        }
        return fixture;
    }

    @Test
    void slowOptimizerFiresBeyondATenthOfTheStep() {
        Finding finding = only("slow_optimizer", optimizing(20));
        assertThat(finding.value()).isEqualTo(40.0);
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.maxSpeedup()).isEqualTo(1.67);
        assertThat(finding.evidence())
                .isEqualTo("mean of 19 steps: 20.0 ms of 50.0 ms in the optimizer (10 % of a step is considered normal); "
                        + "saves at most 20.0 ms: 50.0 / (50.0 - 20.0) = 1.67x");
    }

    @Test
    void slowOptimizerIsSilentForAQuarterOfTheStepAndABusyGpu() {
        assertThat(run("slow_optimizer", optimizing(12))).isEmpty();
        assertThat(run("slow_optimizer", optimizing(20).gpuSample("utilization", 1000, 100, "percent"))).isEmpty();
    }

    /// Other programs have its CPU meanwhile.
    @Test
    void slowOptimizerFiresWithoutTheTimeInWhichItHasNoCpu() {
        Finding finding = only("slow_optimizer", withoutCpu(optimizing(20), 6));
        assertThat(finding.value()).isEqualTo(28.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 19 steps: 14.0 ms of 50.0 ms in the optimizer (10 % of a step is considered normal), "
                        + "without 6.0 ms in it ready without a CPU; saves at most 20.0 ms: 50.0 / (50.0 - 20.0) = 1.67x");
        assertThat(run("slow_optimizer", withoutCpu(optimizing(20), 8))).isEmpty();
    }

    private static RecordingFixture withoutCpu(RecordingFixture fixture, double ms) {
        for (int i = 0; i < 20; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 32, ms, "state = 'preempted', runq_ns = " + Math.round(ms * 1e6));
        }
        return fixture;
    }

    @Test
    void slowOptimizerIsSilentForTheForwardAndBackwardPassOfAClosure() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            fixture.region(NEXT, i * 50, 1).region(STEP, i * 50 + 2, 48).backward(i * 50 + 20, 25);
        }
        assertThat(run("slow_optimizer", fixture)).isEmpty();
    }

    /// Steps of 50 ms, so much of it in the optimizer.
    private static RecordingFixture optimizing(double ms) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            fixture.region(NEXT, i * 50, 1).backward(i * 50 + 10, 5).region(STEP, i * 50 + 50 - ms, ms);
        }
        return fixture;
    }

    @Test
    void whatTheGpuDoesMeanwhileIsNotLost() {
        RecordingFixture fixture = busyWorker().footer("zernel.recording", "{\"complete\":true,\"cpus\":1}")
                .gpuSample("utilization", -400, 0, "percent") // before training
                .gpuSample("utilization", 70, 0, "percent") // reaches into it
                .gpuSample("utilization", 300, 88, "percent")
                .gpuSample("utilization", 550, 88, "percent");
        Finding finding = only("data_bound", fixture);
        // The GPU is idle for 12 % of 50 ms, less than the 15 ms of waiting; the bound allows for 3 % of error.
        assertThat(finding.lostMillisPerStep()).isEqualTo(6.0);
        assertThat(finding.evidence()).endsWith("; the GPU is idle for 6.0 ms; saves at most 7.5 ms: 50.0 / (50.0 - 7.5) = 1.18x");
    }

    @Test
    void dataBoundIsSilentWhenCpusAreIdle() {
        assertThat(run("data_bound", busyWorker())).isEmpty();
    }

    @Test
    void tooFewWorkersFiresWhenCpusAreIdle() {
        Finding finding = only("too_few_workers", busyWorker());
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.evidence())
                .contains("1 worker: 20 % waiting for an index, 0 % blocked elsewhere, 2 % in reads, at most 78 % on the CPU; "
                        + "the job leaves 6.5 of 8 CPUs (what else uses them was not measured); ");
        assertThat(finding.advice()).isEqualTo("DataLoader(num_workers=2, persistent_workers=True)");
    }

    @Test
    void tooFewWorkersIsSilentWhenWorkersWaitForACpu() {
        RecordingFixture fixture = busyWorker().on(200, 200, "pt_data_worker");
        fixture.event("sched", "off-cpu", 200, 100.0, "state = 'preempted', runq_ns = 100000000");
        assertThat(run("too_few_workers", fixture)).isEmpty();
        assertThat(run("data_bound", fixture)).hasSize(1);
    }

    /// Half a CPU was idle in the mean, but not when workers could have used it.
    @Test
    void tooFewWorkersIsSilentWhereWorkersWaitForACpuAndNoneIsFreeAllTheTime() {
        assertThat(run("too_few_workers", crowdedWorker(10))).hasSize(1);
        assertThat(run("too_few_workers", crowdedWorker(100))).isEmpty();
        assertThat(only("data_bound", crowdedWorker(100)).advice()).startsWith("make the samples cheaper: ");
    }

    private static RecordingFixture crowdedWorker(int readyMillis) {
        RecordingFixture fixture = busyWorker().on(200, 200, "pt_data_worker");
        fixture.event("sched", "off-cpu", 200, (double) readyMillis, "state = 'preempted', runq_ns = " + readyMillis * 1_000_000L);
        fixture.on(100, 100, "python3");
        for (int at = 0; at <= 550; at += 50) {
            fixture.hostSample("cpus", "", at, 2).hostSample("cpu_busy", "", at, at * 1_500_000L)
                    .hostSample("cpu_idle", "", at, at * 500_000L);
        }
        return fixture;
    }

    @Test
    void tooFewWorkersFiresForLoadingInTheTrainingThread() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 15)
                    .backward(i * 50 + 20, 20)
                    .region(STEP, i * 50 + 45, 5);
        }
        Finding finding = only("too_few_workers", fixture);
        assertThat(finding.evidence()).contains("; the training thread loads the data itself (num_workers=0), 100 % of it on the CPU; "
                        + "getting a batch from a worker is assumed to take 0.3 ms; the job leaves 7.0 of 8 CPUs (what else uses them was not measured); ");
        assertThat(finding.advice()).isEqualTo("DataLoader(num_workers=1, persistent_workers=True)");
    }

    @Test
    void tooFewWorkersIsBoundByTheWholeWaitWhereTheUseOfTheGpuIsNotKnown() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 40)
                    .launch("gemm", i * 50 + 41, 0.01)
                    .region(STEP, i * 50 + 45, 5);
        }
        Finding finding = only("too_few_workers", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(25.0); // idle for anything from 0 to 50 ms
        // The thread is left with 10 ms.
        assertThat(finding.maxSpeedup()).isEqualTo(5.0);
    }

    /// The pool is idle while the thread loads, and computes while workers would.
    @Test
    void tooFewWorkersSavesLittleAtLeastBesideAPoolForOperators() {
        RecordingFixture fixture = recording().footer("zernel.recording", "{\"cpus\":2}");
        for (int i = 0; i < 11; i++) {
            fixture.on(100, 100, "python3").region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 15)
                    .backward(i * 50 + 20, 20)
                    .region(STEP, i * 50 + 45, 5)
                    .on(100, 101, "omp").sample(i * 50 + 25, "gomp_thread_start (libgomp.so.1)");
        }
        Finding finding = only("too_few_workers", fixture.on(100, 100, "python3"));
        // 14.7 ms, but for what loading takes of one core and a fifth, which compute otherwise.
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(2.2);
        assertThat(finding.advice()).isEqualTo("make the samples cheaper: that could save up to 15.0 ms; "
                + "DataLoader(num_workers=1, persistent_workers=True) may save next to nothing");
    }

    @Test
    void tooFewWorkersFiresWithARangeWhereTheCpusMayShareACore() {
        RecordingFixture fixture = recording().footer("zernel.recording", "{\"cpus\":2}");
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 15)
                    .backward(i * 50 + 20, 20)
                    .region(STEP, i * 50 + 45, 5);
        }
        Finding finding = only("too_few_workers", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(14.7); // without 0.3 ms for getting a batch
        // 50 ms of work on one CPU and a fifth of another.
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(8.333);
        assertThat(finding.evidence()).contains("if these are two threads of a core, only 8.3 ms are saved; ");
    }

    /// Of 0.5 ms they would save 0.2, if getting a batch takes the 0.3 that are assumed.
    @Test
    void tooFewWorkersIsSilentWhereTheyWouldSaveLessThanIsAssumed() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 2, 0.5)
                    .backward(i * 2 + 0.6, 1)
                    .region(STEP, i * 2 + 1.7, 0.3);
        }
        assertThat(run("too_few_workers", fixture)).isEmpty();
    }

    @Test
    void tooFewWorkersIsSilentWhereLoadingTakesLessThanGettingABatchFromAWorker() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 2, 0.25)
                    .backward(i * 2 + 0.5, 1)
                    .region(STEP, i * 2 + 1.6, 0.3);
        }
        assertThat(run("too_few_workers", fixture)).isEmpty();
        assertThat(run("data_bound", fixture)).isEmpty();
    }

    @Test
    void tooFewWorkersFiresWithAllOfLoadingWhereWorkersSaveAPartOfIt() {
        RecordingFixture fixture = recording().footer("zernel.recording", "{\"cpus\":2}");
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 35)
                    .backward(i * 50 + 36, 8)
                    .region(STEP, i * 50 + 45, 5);
        }
        Finding finding = only("too_few_workers", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(25.0); // 50 ms of work on two CPUs
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(8.333);
        assertThat(finding.severity()).isEqualTo("high"); // 34.7 of 50 ms
        assertThat(finding.maxSpeedup()).isEqualTo(3.33); // 50 / 15, with samples that cost nothing
        assertThat(finding.evidence()).contains("(what else uses them was not measured); with them, more workers save at most 25.0 ms; ");
        assertThat(finding.advice()).isEqualTo("DataLoader(num_workers=2, persistent_workers=True); "
                + "or make the samples cheaper: that could save up to 35.0 ms");
    }

    @Test
    void dataBoundFiresForASamplerThatDrawsAPassInEachStep() {
        Finding finding = only("data_bound", sampled("RandomSampler.__iter__ (/v/site-packages/torch/utils/data/sampler.py:182)"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.evidence()).contains("; 15.0 ms in the sampler, which runs in the training process with any number of workers; ");
        assertThat(finding.advice())
                .isEqualTo("make the iterator once, outside the loop: each step draws the order of the whole data set anew");
    }

    @Test
    void dataBoundFiresForAUsersSampler() {
        Finding finding = only("data_bound", sampled("Balanced.__iter__ (/me/data.py:28)"));
        assertThat(finding.advice())
                .isEqualTo("make the indices cheaper in the sampler, or all of them before the pass; workers do not run it");
    }

    @Test
    void tooFewWorkersIsSilentOfTimeInASampler() {
        assertThat(run("too_few_workers", sampled("Balanced.__iter__ (/me/data.py:28)"))).isEmpty();
    }

    @Test
    void dataBoundFiresForAHandOverThatTakesLongerThanLoading() {
        Finding finding = only("data_bound", handedOver(15, 11));
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(10.455); // less 50 of 550 ms of each 50 ms
        assertThat(finding.evidence())
                .contains("; that is the hand-over of batches, as loading takes the workers 4.5 ms of a step; ");
        assertThat(finding.advice())
                .isEqualTo("num_workers=0, as loading takes less than the hand-over; or larger batches of few, large tensors");
    }

    @Test
    void dataBoundFiresForManyTensorsThatABusyWorkerHandsOver() {
        Finding finding = only("data_bound", manyTensors(12));
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(14.7); // less what getting any batch takes
        assertThat(finding.evidence())
                .contains("; in 15.0 ms of that the training thread itself is busy to take batches over, "
                        + "and waits on a socket 12 times, as for each tensor; ");
        assertThat(finding.advice()).startsWith("hand over few, large tensors, not many small ones: ");
    }

    @Test
    void dataBoundFiresForObjectsThatTheTrainingThreadMakesOfWhatWorkersSent() {
        Finding finding = only("data_bound", received("Queue.get (/usr/lib/python3.12/multiprocessing/queues.py:122)"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(14.7); // less what getting any batch takes
        assertThat(finding.evidence())
                .contains("; in 15.0 ms of that the training thread reads and unpickles what the workers sent; ");
        assertThat(finding.advice()).startsWith("hand over tensors, which come in shared memory: ");
    }

    @Test
    void dataBoundIsSilentOfObjectsWhereTensorsAreMade() {
        String stack = "Queue.get (/usr/lib/python3.12/multiprocessing/queues.py:122);"
                + "rebuild_storage_fd (/v/site-packages/torch/multiprocessing/reductions.py:541)";
        assertThat(run("data_bound", received(stack))).noneMatch(finding -> finding.advice().startsWith("hand over"));
    }

    /// Steps of 50 ms that wait for 15 ms on a CPU, in a stack below the loader, while a worker waits for 20 ms.
    private static RecordingFixture received(String below) {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200);
        String stack = "main (/me/train.py:9);_BaseDataLoaderIter.__next__ (/v/site-packages/torch/utils/data/dataloader.py:725);" + below;
        for (int i = 0; i < 11; i++) {
            fixture.sample(i * 50 + 3, stack).sample(i * 50 + 7, stack).sample(i * 50 + 11, stack);
        }
        fixture.on(200, 200, "pt_data_worker");
        for (int i = 0; i < 11; i++) {
            fixture.event("wait", "poll", i * 50 + 25, 20.0, "status = 1, object = 'pipe:[7]'");
        }
        return fixture.region("x", 500, 50).on(100, 100, "python3");
    }

    @Test
    void dataBoundIsSilentOfTheHandOverOfFewTensorsOrOfABatchThatIsNotThere() {
        assertThat(run("data_bound", manyTensors(9))).noneMatch(finding -> finding.advice().startsWith("hand over"));
        assertThat(run("data_bound", manyTensors(0))).noneMatch(finding -> finding.advice().startsWith("hand over"));
    }

    /// Steps of 50 ms, 15 of them in a wait with so many waits on a socket, or one for the pipe that batches come through.
    private static RecordingFixture manyTensors(int sockets) {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200);
        for (int i = 0; i < 11; i++) {
            for (int j = 0; j < sockets; j++) {
                fixture.event("wait", "recvmsg", i * 50 + j + 0.5, 0.4, "status = 16, object = 'socket:[9]'")
                        .event("sched", "off-cpu", i * 50 + j + 0.6, 0.2, "");
            }
            if (sockets == 0) {
                fixture.event("wait", "poll", i * 50 + 0.5, 14.0, "status = 1, object = 'pipe:[8]'")
                        .event("sched", "off-cpu", i * 50 + 0.6, 13.8, "");
            }
        }
        fixture.on(200, 200, "pt_data_worker");
        for (int i = 0; i < 11; i++) {
            fixture.event("wait", "poll", i * 50 + 25, 20.0, "status = 1, object = 'pipe:[7]'"); // below half
        }
        return fixture.region("x", 500, 50).on(100, 100, "python3");
    }

    @Test
    void dataBoundIsSilentOfAHandOverThatTakesNoLongerThanLoadingWould() {
        assertThat(run("data_bound", handedOver(3, 15))).isEmpty(); // of 38 ms, and loading takes 4.2 ms
        assertThat(run("data_bound", handedOver(4, 14))).hasSize(1); // a tenth of a step
    }

    /// Steps, of some 550 ms in all, that wait for batches which the worker has ready.
    private static RecordingFixture handedOver(double waitMillis, int steps) {
        RecordingFixture fixture = recording().training(steps, waitMillis).fork(0, 200);
        fixture.on(200, 200, "pt_data_worker")
                .event("wait", "poll", 0, 500.0, "status = 0, object = 'pipe:[7]'")
                .region("x", 500, 50);
        return fixture.on(100, 100, "python3");
    }

    /// Steps of 50 ms that wait for 15 ms, three samples of which are in a sampler.
    private static RecordingFixture sampled(String sampler) {
        String stack = "main (/me/train.py:9);_BaseDataLoaderIter.__next__ (/v/site-packages/torch/utils/data/dataloader.py:725);"
                + "_BaseDataLoaderIter._next_index (/v/site-packages/torch/utils/data/dataloader.py:715);" + sampler;
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 15)
                    .sample(i * 50 + 3, stack)
                    .sample(i * 50 + 7, stack)
                    .sample(i * 50 + 11, stack)
                    .backward(i * 50 + 20, 20)
                    .region(STEP, i * 50 + 45, 5);
        }
        return fixture;
    }

    @Test
    void dataBoundIsSilentWhenDataIsThere() {
        assertThat(run("data_bound", recording().training(11, 1))).isEmpty();
    }

    @Test
    void storageBoundFiresWhenWorkersRead() {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200).on(200, 200, "pt_data_worker");
        for (int i = 0; i < 11; i++) {
            fixture.io(i * 50, 40, 8_000_000);
        }
        fixture.region("x", 549, 1);
        Finding finding = only("storage_bound", fixture);
        // The reads are 80 % of loading: without them the workers would be ready before the step needs them.
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 10 steps: 15.0 ms waiting of 50.0 ms; 80 % of loading is reading in 1 workers, "
                        + "200.0 MB/s while reading; saves at most 15.0 ms: 50.0 / (50.0 - 15.0) = 1.43x");
    }

    @Test
    void storageBoundFiresForReadsInTheTrainingThread() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 20)
                    .io(i * 50 + 1, 15, 1000)
                    .io(i * 50 + 25, 20, 1000)
                    .region(STEP, i * 50 + 45, 5);
        }
        Finding finding = only("storage_bound", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(15.0);
        assertThat(finding.evidence()).contains("; 75 % of loading is reading inside __next__; ");
    }

    /// Files in the page cache are copied, which takes a CPU and no storage.
    @Test
    void storageBoundIsSilentForReadsThatAreNotBlocked() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 20)
                    .event("io", "pread64", i * 50 + 1, 15.0, "fd = 3, bytes = 16000000, status = 0, io_ns = 0")
                    .region(STEP, i * 50 + 45, 5);
        }
        assertThat(run("storage_bound", fixture)).isEmpty();
    }

    /// A library of which a page was read when its function ran for the first time: the call computes.
    @Test
    void storageBoundIsSilentForCallsInWhichOnePageWasRead() {
        String call = "main (/me/train.py:9);eigh (/lib/site-packages/scipy/linalg/_decomp.py:5)";
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 30).region(STEP, i * 50 + 45, 5)
                    .sample(i * 50 + 28, call);
        }
        fixture.blocked("io", "page_fault", 101, 2, call, "bytes = 4096, status = 0, path = '/lib/libopenblas.so'");
        assertThat(run("storage_bound", fixture)).isEmpty();
        for (int i = 0; i < 11; i++) {
            fixture.blocked("io", "page_fault", i * 50 + 3, 24, call, "bytes = 4096, status = 0, path = '/data/rows.bin'");
        }
        assertThat(only("storage_bound", fixture).evidence()).contains("; 100 % of loading is reading inside __next__");
    }

    @Test
    void storageBoundIsSilentForReadsOfWorkersThatAreNotBlocked() {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200).on(200, 200, "pt_data_worker");
        for (int i = 0; i < 11; i++) {
            fixture.event("io", "read", i * 50, 40.0, "fd = 3, bytes = 8000000, status = 0, io_ns = " + (i == 5 ? 40_000_000 : 1000));
        }
        fixture.region("x", 549, 1);
        assertThat(run("storage_bound", fixture)).isEmpty();
        assertThat(only("too_few_workers", fixture).evidence())
                .startsWith("mean of 10 steps: 15.0 ms waiting of 50.0 ms; 1 worker: 0 % waiting for an index, 0 % blocked elsewhere, "
                        + "0 % in reads, at most 100 % on the CPU, 80 % of all copying files that are in memory");
    }

    @Test
    void storageBoundAdvisesByWhatIsReadAndByWhom() {
        assertThat(only("storage_bound", reading("page_fault", false)).advice())
                .startsWith("read the mapped file in larger pieces: shuffle by chunks of rows that lie together, ")
                .endsWith("; or read ahead in data workers (num_workers)");
        assertThat(only("storage_bound", reading("page_fault", false)).evidence())
                .contains(" inside __next__, 100 % of that time in page faults of mapped files, 100 % of it in rows0.bin; ");
        assertThat(only("storage_bound", reading("read", false)).advice()).startsWith("read larger blocks of the file in the order ");
        assertThat(only("storage_bound", reading("read", true)).advice())
                .isEqualTo("pack small files into large ones, or keep them on faster storage or in memory; "
                        + "or read ahead in data workers (num_workers)");
    }

    /// Steps of 50 ms, 15 ms of each in reads of one file, or of one for each step.
    private static RecordingFixture reading(String call, boolean files) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", i * 50, 20)
                    .event("io", call, i * 50 + 1, 15.0, "bytes = 4096, status = 0, path = '/data/rows" + (files ? i : 0) + ".bin'")
                    .region(STEP, i * 50 + 45, 5);
        }
        return fixture;
    }

    @Test
    void storageBoundIsSilentWhenWorkersCompute() {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200).on(200, 200, "pt_data_worker");
        fixture.io(0, 10, 1000).region("x", 549, 1);
        assertThat(run("storage_bound", fixture)).isEmpty();
    }

    @Test
    void workerStartupFiresWhenEachEpochStartsWorkers() {
        Finding finding = only("worker_startup", epochs(true));
        assertThat(finding.evidence())
                .startsWith("1 later pass: 0.0 ms to join old workers, 0.5 ms to fork, first waits 201.0 ms against a usual "
                        + "1.0 ms, first step 0.0 ms longer; 2 worker processes for 1 at once; ");
        // From the fork to the first batch, 201.5 ms, less a usual wait, over 19 steps.
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.553);
        assertThat(finding.advice())
                .isEqualTo("keep the workers: one DataLoader for all epochs, not a new one in each, with persistent_workers=True; these "
                        + "end when the iterator is deleted, as with a new DataLoader, or a loop that leaves early");
    }

    @Test
    void workerStartupFiresForWorkersThatDie() {
        Finding finding = only("worker_startup", forkingEpochs(1, "dead"));
        assertThat(finding.evidence()).contains("; 8 worker processes for 2 at once; 8 of them ended with status 139; ");
        assertThat(finding.advice()).startsWith("find out why the workers die: with num_workers=0 ");
    }

    @Test
    void workerStartupIsSilentForWorkersThatStay() {
        assertThat(run("worker_startup", epochs(false))).isEmpty();
    }

    @Test
    void workerStartupIsSilentForTheFirstStartOfAnotherLoader() {
        assertThat(run("worker_startup", epochs(true).alter("DELETE FROM events WHERE name = 'exit'"))).isEmpty();
    }

    @Test
    void workersThatStayForTheNextEvaluationAreNotIdleOnesOfTraining() {
        RecordingFixture fixture = recording();
        List<double[]> evaluations = new ArrayList<>();
        double at = 10;
        fixture.fork(1, 200).fork(2, 201).fork(3, 202).fork(4, 203);
        for (int epoch = 0; epoch < 3; epoch++) {
            for (int step = 0; step < 10; step++) {
                fixture.region(NEXT, at, 30).backward(at + 35, 10).region(STEP, at + 45, 5);
                at += 50;
            }
            fixture.region(NEXT, at, 0.5); // no more batches to train on
            if (epoch == 0) {
                fixture.fork(at + 1, 300).fork(at + 2, 301).fork(at + 3, 302).fork(at + 4, 303);
            }
            double begin = at + 5;
            at += 5;
            for (int batch = 0; batch < 20; batch++) {
                fixture.region(NEXT, at, 30);
                at += 40;
            }
            fixture.region(NEXT, at, 1); // nor to evaluate
            at += 1;
            evaluations.add(new double[] {begin, at});
        }
        fixture.region(NEXT, at, 30).backward(at + 35, 10).region(STEP, at + 45, 5);
        at += 50;
        String index = "status = 0, object = 'pipe:[7]'";
        for (int worker = 0; worker < 4; worker++) {
            fixture.on(200 + worker, 200 + worker, "pt_data_worker").waiting("clock_nanosleep", 6, 0.1);
            for (double[] evaluation : evaluations) {
                fixture.event("wait", "poll", evaluation[0], evaluation[1] - evaluation[0], index);
            }
            fixture.waiting("clock_nanosleep", at, 0.1).on(300 + worker, 300 + worker, "pt_data_worker");
            for (int epoch = 0; epoch < 3; epoch++) {
                double end = epoch < 2 ? evaluations.get(epoch + 1)[0] : at;
                fixture.event("wait", "poll", evaluations.get(epoch)[1], end - evaluations.get(epoch)[1], index);
            }
        }
        Finding finding = only("too_few_workers", fixture.footer("zernel.recording", "{\"cpus\":16}"));
        assertThat(finding.evidence()).contains("; 4 workers: 0 % waiting for an index, ");
        assertThat(run("data_bound", fixture)).isEmpty();
    }

    @Test
    void startsOfWorkersCountFromTheJoinOfTheOldOnesAndAreNoRestOfTheDataWait() {
        RecordingFixture fixture = forkingEpochs(1);
        Finding finding = only("worker_startup", fixture);
        // Three later passes of: join 16, fork 2 x 13 and 3 to the first batch, first waits 14 and 1; less two usual waits
        // of 1 ms. Each first step takes 10 ms longer. 29 steps after warm-up.
        assertThat(finding.evidence())
                .startsWith("3 later passes: 16.0 ms to join old workers, 29.0 ms to fork, first waits 15.0 ms against a usual "
                        + "2.0 ms, first step 10.0 ms longer; 8 worker processes for 2 at once; ");
        assertThat(finding.lostMillisPerStep()).isCloseTo(3 * 68 / 39.0, within(0.05));
        assertThat(run("data_bound", forkingEpochs(1))).isEmpty();
        assertThat(run("unexplained_time", forkingEpochs(1))).isEmpty();
    }

    @Test
    void startsOfWorkersCountAllFirstStepsThatAreSlowerInMostPasses() {
        Finding finding = only("worker_startup", forkingEpochs(3));
        // As above, and the second and third step take 10 ms longer, too.
        assertThat(finding.evidence()).contains(", first 3 steps together 30.0 ms longer; ");
        assertThat(finding.lostMillisPerStep()).isCloseTo(3 * 88 / 39.0, within(0.05));
    }

    @Test
    void workersThatEndWithTheirLoaderAreJoinedTooAndAreAdvisedToKeepThat() {
        Finding ended = only("worker_startup", forkingEpochs(1));
        Finding deleted = only("worker_startup", forkingEpochs(1, "deleted"));
        Finding left = only("worker_startup", forkingEpochs(1, "break"));
        assertThat(deleted.evidence()).startsWith("3 later passes: 15.0 ms to join old workers, 29.0 ms to fork, ");
        assertThat(left.evidence()).startsWith("3 later passes: 15.0 ms to join old workers, 29.0 ms to fork, ");
        assertThat(deleted.lostMillisPerStep()).isCloseTo(3 * 67 / 39.0, within(0.05));
        assertThat(ended.advice()).isEqualTo("keep the workers: one DataLoader for all epochs, with persistent_workers=True");
        assertThat(deleted.advice())
                .isEqualTo("keep the workers: one DataLoader for all epochs, not a new one in each, with persistent_workers=True; these "
                        + "end when the iterator is deleted, as with a new DataLoader, or a loop that leaves early")
                .isEqualTo(left.advice());
        assertThat(run("blocked_on_process", forkingEpochs(1, "deleted"))).isEmpty();
        assertThat(run("unexplained_time", forkingEpochs(1, "deleted"))).isEmpty();
    }

    /// New workers for an evaluation after the last step, of which the first batch takes 400 ms: a mean step has them, too.
    @Test
    void workerStartupCountsAnEvaluationAfterTheLastStep() {
        assertThat(only("worker_startup", forkingEpochs(1)).evidence()).endsWith("saves at most 5.38 ms: 35.08 / (35.08 - 5.38) = 1.18x");
        RecordingFixture fixture = forkingEpochs(1);
        double at = 5000;
        fixture.fork(at + 13, 300).fork(at + 26, 301).region(NEXT, at + 29, 400).region(NEXT, at + 429, 1).region(NEXT, at + 430, 16);
        for (int worker = 300; worker < 302; worker++) {
            fixture.on(worker, worker, "pt_data_worker")
                    .event("wait", "poll", at + 405, 20.0, "status = 0, object = 'pipe:[7]'")
                    .event("process", "exit", at + 432, null, "status = 0");
        }
        fixture.on(100, 100, "python3");
        Finding finding = only("worker_startup", fixture);
        assertThat(finding.evidence()).endsWith("saves at most 16.82 ms: 46.51 / (46.51 - 16.82) = 1.57x");
        assertThat(finding.more()).containsEntry("step_is", "step of 46.5 ms with the starts outside of training steps");
    }

    /// Four passes of ten batches, the first ones of which are slower, each with two new workers, as PyTorch forks them: after user code of 50 ms, outside
    /// every call, and before the first `__next__`.
    private static RecordingFixture forkingEpochs(int slower) {
        return forkingEpochs(slower, "next");
    }

    /// The workers end in the last `__next__`, or for 15 ms when the iterator is deleted after it, or instead of it; or a
    /// signal ends them.
    private static RecordingFixture forkingEpochs(int slower, String ends) {
        RecordingFixture fixture = recording();
        double at = 100;
        for (int epoch = 0; epoch < 4; epoch++) {
            int worker = 200 + 2 * epoch;
            fixture.fork(at + 13, worker).fork(at + 26, worker + 1);
            double begin = at + 26;
            at += 29;
            for (int batch = 0; batch < 10; batch++) {
                double wait = batch == 0 ? 14 : 1;
                double work = batch < slower && epoch > 0 ? 30 : 20;
                fixture.on(100, 100, "python3").region(NEXT, at, wait).backward(at + wait, work).region(STEP, at + wait + work, 5);
                at += wait + work + 5;
            }
            boolean inNext = ends.equals("next") || ends.equals("dead");
            if (!ends.equals("break")) {
                fixture.region(NEXT, at, inNext ? 16 : 1);
            }
            if (!inNext) {
                fixture.blocked("wait", "poll", at + 1, 15, "main (/job/a.py:9);_MultiProcessingDataLoaderIter.__del__ (/v/torch/dl.py:2);"
                        + "_MultiProcessingDataLoaderIter._shutdown_workers (/v/torch/dl.py:1)");
            }
            for (int i = 0; i < 2; i++) {
                fixture.on(worker + i, worker + i, "pt_data_worker")
                        .event("wait", "poll", begin + 5, at - begin - 5, "status = 0, object = 'pipe:[7]'")
                        .event("process", "exit", at + 2, null, "status = " + (ends.equals("dead") ? 139 : 0));
            }
            fixture.on(100, 100, "python3");
            at += 16 + 50;
        }
        return fixture;
    }

    @Test
    void evaluationFiresFromAFifthOfTheTimeOnAndIsNoPartOfTheStep() {
        Finding finding = only("evaluation", evaluating(5));
        // Three loops of 5 x 20 ms and 1 ms for the end of the pass, in 1,303 ms; 29 of 30 steps are no warm-up.
        assertThat(finding.severity()).isEqualTo("low");
        assertThat(finding.evidence())
                .startsWith("3 evaluations of 101.0 ms; 10.4 ms for each of 29 training steps, in addition to their mean of 30.0 ms; ");
        assertThat(finding.maxSpeedup()).isEqualTo(1.35);
        assertThat(run("unexplained_time", evaluating(5))).isEmpty();
    }

    @Test
    void evaluationSaysThatTheOtherRanksWaitForTheOneThatEvaluates() {
        Finding finding = only("evaluation", evaluating(5, 0));
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.evidence()).contains("; of the other rank no evaluation was seen; ");
        assertThat(finding.advice()).startsWith("share the evaluation with the other ranks: ");
        assertThat(run("evaluation", evaluating(5, 5))).hasSize(2).allSatisfy(each -> {
            assertThat(each.severity()).isEqualTo("low");
            assertThat(each.advice()).startsWith("evaluate less often");
        });
    }

    @Test
    void evaluationIsSilentForLittleOfItAndForScoringAlone() {
        assertThat(run("evaluation", evaluating(1))).isEmpty();
        RecordingFixture scoring = recording();
        for (int i = 0; i < 100; i++) {
            scoring.region(NEXT, i * 20, 2);
        }
        assertThat(run("evaluation", scoring)).isEmpty();
    }

    /// A run goes on where it stopped: 50 batches are loaded for nothing, each for 20 ms less what is done with it.
    private static RecordingFixture resuming(double ms) {
        RecordingFixture fixture = recording();
        for (int batch = 0; batch < 50; batch++) {
            fixture.region(NEXT, batch * 20, 20 - ms);
        }
        for (int step = 0; step < 20; step++) {
            double at = 1000 + step * 50;
            fixture.region(NEXT, at, 20).backward(at + 20, 15).region(STEP, at + 40, 10);
        }
        return fixture;
    }

    @Test
    void skippedBatchesFiresForBatchesThatNoStepUses() {
        Finding finding = only("skipped_batches", resuming(0.2));
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0, within(0.1));
        assertThat(finding.evidence())
                .startsWith("50 batches in 1 pass of 1.00 s together, nearly all of it waiting for them; 52.6 ms for each of 19 training steps, "
                        + "in addition to their mean of 50.0 ms; ");
        assertThat(run("evaluation", resuming(0.2))).isEmpty();
    }

    @Test
    void skippedBatchesIsSilentForAnEvaluation() {
        assertThat(run("skipped_batches", resuming(4))).isEmpty();
        assertThat(only("evaluation", resuming(4)).evidence()).startsWith("1 evaluation of ");
    }

    /// Three epochs of ten steps of 30 ms, each followed by an evaluation of so many batches of 20 ms; in each step the rank waits
    /// for 1 ms for others.
    private static void trainAndEvaluate(RecordingFixture fixture, int batches) {
        double at = 0;
        for (int epoch = 0; epoch < 3; epoch++) {
            for (int step = 0; step < 10; step++) {
                fixture.region(NEXT, at, 5).backward(at + 10, 10).event("dist_wait", "Reducer::finalize_backward", at + 18, 1.0, "depth = 0")
                        .region(STEP, at + 20, 10);
                at += 30;
            }
            fixture.region(NEXT, at, 0.02); // no more batches to train on
            at += 0.1;
            for (int batch = 0; batch < batches; batch++) {
                fixture.region(NEXT, at, 5);
                at += 20;
            }
            fixture.region(NEXT, at, 1); // nor to evaluate
            at += 1;
        }
    }

    private static RecordingFixture evaluating(int batches) {
        RecordingFixture fixture = recording();
        trainAndEvaluate(fixture, batches);
        return fixture;
    }

    /// Two ranks, each with an evaluation of its own number of batches.
    private static RecordingFixture evaluating(int first, int second) {
        RecordingFixture fixture = recording();
        trainAndEvaluate(fixture.on(100, 100, "python3"), first);
        trainAndEvaluate(fixture.on(200, 200, "python3"), second);
        return fixture;
    }

    @Test
    void slowStepsFiresAndNamesThePhaseThatGrew() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 30; i++) {
            double at = i * 200;
            fixture.region(NEXT, at, i == 20 ? 120 : 20).backward(at + 130, 20).region(STEP, at + 150, 10);
        }
        // Steps last 200 ms whatever the wait, so one is made longer.
        fixture.region(NEXT, 6000, 920).backward(6930, 20).region(STEP, 6950, 10);
        Finding finding = only("slow_steps", fixture);
        assertThat(finding.value()).isEqualTo(1.0);
        assertThat(finding.unit()).isEqualTo("of 30 steps");
        assertThat(finding.evidence())
                .isEqualTo("median 200.0 ms, worst 1000.0 ms (step 31); 100 % of the 800.0 ms over the median: "
                        + "waiting for data; saves at most 26.7 ms: 226.7 / (226.7 - 26.7) = 1.13x");
    }

    @Test
    void aFewSlowStepsMustTakeATenthOfTheTimeUnlessTheyComeAtEqualDistances() {
        assertThat(run("slow_steps", slowSteps(10, 23, 31))).isEmpty();
        assertThat(run("slow_steps", slowSteps(10, 20, 30))).hasSize(1);
    }

    @Test
    void growingStepsFiresForStepsThatTakeLongerAndLonger() {
        Finding finding = only("growing_steps", lasting(100, step -> 20 + step));
        assertThat(finding.lostMillisPerStep()).isEqualTo(44.5);
        assertThat(finding.evidence())
                .isEqualTo("26.5 ms in the first tenth of 99 steps, 116.0 ms in the last (medians); "
                        + "100 steps later a step takes 100.0 ms longer; 99 % of what it takes longer: outside calls; "
                        + "saves at most 49.5 ms: 71.0 / (71.0 - 49.5) = 3.30x"); // steps begin at 21 ms
        assertThat(run("slow_steps", lasting(100, step -> 20 + step))).isEmpty();
    }

    @Test
    void growingStepsFiresForStepsThatGrowFasterAndFaster() {
        assertThat(run("growing_steps", lasting(100, step -> 20 + step * step / 100.0))).hasSize(1);
    }

    /// Medians of tenths of a real training, whose queue grew until it was as long as its data.
    @Test
    void growingStepsFiresForStepsThatGrowMostlyAtTheStart() {
        double[] tenths = {29.8, 38.2, 40.7, 47.3, 49.6, 54.0, 57.3, 56.7, 57.1, 56.8};
        assertThat(run("growing_steps", lasting(100, step -> tenths[Math.min(step / 10, 9)]))).hasSize(1);
    }

    @Test
    void growingStepsIsSilentForAChangeOfPaceAndForStepsThatGrowAndStop() {
        assertThat(run("growing_steps", lasting(100, step -> step < 50 ? 20 + step / 100.0 : 40 + step / 100.0))).isEmpty();
        assertThat(run("growing_steps", lasting(100, step -> 20 + Math.min(step, 15)))).isEmpty();
        assertThat(run("growing_steps", lasting(100, step -> 20 + step / 50.0))).isEmpty();
        assertThat(run("growing_steps", lasting(100, step -> 140 - step))).isEmpty();
    }

    /// Steps of 20 ms and more, by their number.
    private static RecordingFixture lasting(int steps, IntToDoubleFunction millis) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int step = 1; step <= steps; step++) {
            fixture.region(NEXT, at, 2);
            at += millis.applyAsDouble(step);
            fixture.region(STEP, at - 10, 10);
        }
        return fixture;
    }

    /// 40 steps of 100 ms, of which these take 80 ms longer.
    private static RecordingFixture slowSteps(Integer... slow) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            double backward = List.of(slow).contains(i) ? 140 : 60;
            fixture.region(NEXT, at, 5).backward(at + 5, backward).region(STEP, at + backward + 30, 10);
            at += backward + 40;
        }
        return fixture;
    }

    /// Every tenth step has 200 ms more between its calls.
    @ParameterizedTest
    @CsvSource({"CartPoleEnv.step (/v/site-packages/gymnasium/envs/cartpole.py:9), low", "collect_rollouts (/me/ppo.py:20), low",
            "save_figures (/me/ppo.py:20), high"})
    void slowStepsIsOfLowSeverityForRolloutsOfReinforcementLearning(String frame, String severity) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            double between = i % 10 == 0 ? 240 : 20;
            for (double sampled = 2; sampled < between - 2; sampled += 18) {
                fixture.sample(at + sampled, "main (/me/ppo.py:9)" + (between > 200 ? ";" + frame : ""));
            }
            fixture.backward(at + between, 10).region(STEP, at + between + 10, 10);
            at += between + 20;
        }
        Finding finding = only("slow_steps", fixture);
        assertThat(finding.severity()).isEqualTo(severity);
        if (severity.equals("low")) {
            assertThat(finding.evidence()).isEqualTo("median 40.0 ms, worst 260.0 ms (step 10), every 10 steps; 100 % of the 880.0 ms "
                    + "over the median: outside calls, which is 36 % of the time of all steps; rollouts of reinforcement learning are in it");
            assertThat(finding.lostMillisPerStep()).isNull();
            assertThat(finding.advice()).startsWith("nothing, if environments have to take that long; ");
        }
    }

    @Test
    void slowStepsIsSilentForEvenSteps() {
        assertThat(run("slow_steps", recording().training(40, 10))).isEmpty();
    }

    @Test
    void slowStepsIsSilentForWaitsForEarlierSteps() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01);
            at += 5;
            if (i % 10 == 0) {
                fixture.sync(at, 200);
                at += 201;
            }
            fixture.region(STEP, at, 5);
            at += 5;
        }
        assertThat(run("slow_steps", fixture)).isEmpty();
    }

    @Test
    void onlyTheFirstOfManyWaitsInAStepIsForEarlierSteps() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01);
            at += 5;
            for (int pass = 0; i % 10 == 0 && pass < 6; pass++) {
                fixture.launch("gemm", at, 0.01).sync(at + 1, 30);
                at += 32;
            }
            fixture.region(STEP, at, 5);
            at += 5;
        }
        Finding finding = only("slow_steps", fixture);
        assertThat(finding.value()).isEqualTo(4.0);
        assertThat(finding.evidence()).startsWith("median 10.0 ms, worst 202.0 ms (step 10), every 10 steps; 94 % of the 768.0 ms over the "
                + "median: compute and waits for the GPU, with 6 waits for the GPU in a step where 0 are usual; ");
        assertThat(finding.advice()).isEqualTo("look at what is computed besides training: evaluation, samples, metrics that are read");
    }

    @Test
    void slowStepsIsSilentForLaunchesThatWaitForRoom() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            double launch = i % 10 > 6 ? 60 : 0.01;
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, launch);
            at += 5 + launch;
            fixture.region(STEP, at, 5);
            at += 5;
        }
        assertThat(run("slow_steps", fixture)).isEmpty();
    }

    @Test
    void slowStepsIsSilentForWaitsForDataThatTheGpuDoesNotMiss() {
        RecordingFixture fixture = farAhead().gpuSample("utilization", 1100, 99, "percent");
        assertThat(run("slow_steps", fixture)).isEmpty();
        assertThat(run("data_bound", fixture)).isEmpty();
    }

    @Test
    void waitsForDataThatTheGpuMissesAreThoseOfASlowInput() {
        RecordingFixture fixture = farAhead().gpuSample("utilization", 1100, 75, "percent");
        assertThat(run("slow_steps", fixture)).isEmpty();
        // 40 ms in 6 steps and 1 ms in 53, without the first step.
        assertThat(only("data_bound", fixture).lostMillisPerStep()).isEqualTo(4.966);
    }

    @Test
    void waitsForDataInReadsThatTheGpuMissesAreThoseOfStorage() {
        RecordingFixture fixture = farAhead().fork(0, 200).on(200, 200, "pt_data_worker").io(0, 1800, 8_000_000)
                .region("x", 1900, 1).gpuSample("utilization", 1100, 75, "percent");
        assertThat(run("slow_steps", fixture)).isEmpty();
        assertThat(only("storage_bound", fixture).lostMillisPerStep()).isEqualTo(4.966);
    }

    /// A program that waits for room to launch in three steps of ten, and for data in one.
    private static RecordingFixture farAhead() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 60; i++) {
            double launch = i % 10 > 6 ? 60 : 0.01;
            double data = i % 10 == 5 ? 40 : 1;
            fixture.region(NEXT, at, data).launch("gemm", at + data + 1, launch);
            at += data + 4 + launch;
            fixture.region(STEP, at, 5);
            at += 5;
        }
        return fixture;
    }

    @Test
    void unexplainedTimeIsAllOutsideCallsWhereTimeOffTheCpuWasNotRecorded() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 7; i++) {
            fixture.region(STEP, i * 100, 20);
        }
        Finding finding = only("unexplained_time", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(80.0);
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence())
                .isEqualTo("median of 6 steps: 80.0 ms of 100.0 ms outside every recorded call, and time off the CPU was not "
                        + "recorded; saves at most 80.0 ms: 100.0 / (100.0 - 80.0) = 5.00x");
    }

    @Test
    void unexplainedTimeIsSilentWhenCallsCoverTheSteps() {
        assertThat(run("unexplained_time", recording().training(5, 10))).isEmpty();
    }

    @Test
    void lostEventsFiresForLossesInTheFooterAndInEvents() {
        RecordingFixture fixture = recording().region("a", 0, 1).region("a", 2, 1).region("a", 4, 1)
                .event("lost", "region", 5, 1.0, "count = 1")
                .footer("zernel.losses", "{\"rings\":[],\"by_kind\":{\"wait\":7},\"total\":8}");
        List<Finding> findings = run("lost_events", fixture);
        assertThat(findings).extracting(Finding::subject).containsExactly("kind wait", "kind region");
        assertThat(findings).extracting(Finding::evidence)
                .containsExactly(
                        "7 lost, 0 stored: 100.00 % of what happened", "1 lost, 3 stored: 25.00 % of what happened");
    }

    @Test
    void lostEventsIsSilentWhenNothingWasLost() {
        assertThat(run("lost_events", recording().region("a", 0, 1)
                        .footer("zernel.losses", "{\"rings\":[],\"by_kind\":{},\"total\":0}")))
                .isEmpty();
    }

    @Test
    void unattachedProbesFiresForKindsAndForFunctions() {
        RecordingFixture fixture = recording().region("a", 0, 1)
                .footer("zernel.recording", "{\"command\":[]}")
                .footer(
                        "zernel.kinds",
                        """
                        [{"kind":"region","state":"waiting","why":"no process has loaded libtorch_cpu.so","events":0},
                        {"kind":"call","state":"attached","events":0},{"kind":"io","state":"off","events":0},
                        {"kind":"nccl","state":"waiting","events":0}]
                        """)
                .footer(
                        "zernel.probes",
                        """
                        [{"kind":"call","library":"/lib/libfoo.so","symbol":"a","state":"failed","why":"EINVAL"},
                        {"kind":"call","library":"/lib/libfoo.so","symbol":"b","state":"attached"},
                        {"kind":"call","library":"/lib/libfoo.so","symbol":"c","state":"missing"}]
                        """);
        List<Finding> findings = run("unattached_probes", fixture);
        assertThat(findings).extracting(Finding::subject).containsExactly("kind region", "kind call in libfoo.so");
        assertThat(findings).extracting(Finding::severity).containsExactly("medium", "low");
        assertThat(findings).extracting(Finding::evidence)
                .containsExactly("waiting: no process has loaded libtorch_cpu.so", "failed: a: EINVAL");
    }

    /// As of a server that runs a model without PyTorch, recorded while it ran.
    @Test
    void unattachedProbesIsSilentOfPyTorchThatAProcessDidNotLoadWhileItRan() {
        RecordingFixture fixture = recording().footer("zernel.recording", "{\"command\":[]}").footer("zernel.kinds", """
                [{"kind":"backward","state":"waiting"},{"kind":"sched","state":"attached"}]""");
        assertThat(run("unattached_probes", fixture)).isNotEmpty();
        assertThat(run("unattached_probes", fixture.event("process", "running", 0, null, ""))).isEmpty();
    }

    @Test
    void unattachedProbesIsSilentOfPyTorchThatACommandNeverLoaded() {
        assertThat(run("unattached_probes", recording().region("a", 0, 1)
                        .footer("zernel.kinds", "[{\"kind\":\"backward\",\"state\":\"waiting\"}]")))
                .isEmpty();
    }

    @Test
    void unattachedProbesIsSilentWhenAllAreAttachedOrOff() {
        assertThat(run("unattached_probes", recording().region("a", 0, 1)
                        .footer("zernel.kinds", "[{\"kind\":\"io\",\"state\":\"off\"}]")))
                .isEmpty();
    }

    @Test
    void findingsComeInTheOrderOfLostTime() {
        RecordingFixture fixture = recording().training(11, 15)
                .footer("zernel.losses", "{\"by_kind\":{\"wait\":7}}");
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.diagnose().findings()).extracting(Finding::name).containsExactly("data_bound", "lost_events");
        }
    }

    /// Eleven steps of 50 ms that wait 15 ms for data, and one worker that is busy for 80 % of the time.
    private static RecordingFixture busyWorker() {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200);
        fixture.on(200, 200, "pt_data_worker")
                .event("wait", "poll", 0, 110.0, "status = 0, object = 'pipe:[7]'")
                .io(110, 11, 1000)
                .region("x", 500, 50);
        return fixture.on(100, 100, "python3");
    }

    /// Two passes of ten batches; the first wait of each is long; the second has a new worker, or not.
    private static RecordingFixture epochs(boolean newWorker) {
        RecordingFixture fixture = recording().fork(0, 201);
        double at = 1;
        for (int i = 0; i < 20; i++) {
            double wait = i % 10 == 0 ? 201 : 1;
            if (i == 10 && newWorker) {
                fixture.fork(at - 0.5, 202);
            }
            fixture.region(NEXT, at, wait).backward(at + wait, 20).region(STEP, at + wait + 20, 10);
            at += wait + 31;
        }
        String index = "status = 0, object = 'pipe:[7]'";
        fixture.on(201, 201, "pt_data_worker").event("wait", "poll", 2, newWorker ? 500.0 : 900.0, index);
        return newWorker
                ? fixture.on(201, 207, "pt_data_worker").event("process", "exit", 502, null, "") // its last thread
                        .on(202, 202, "pt_data_worker").event("wait", "poll", 520, 380.0, index)
                : fixture;
    }

    @Test
    void hostMemoryFiresForWorkersThatCopyWhatTheyRead() {
        // Two workers: 10 MB more of their own each second, while the RSS stays.
        RecordingFixture fixture = remembering().on(101, 101, "pt_data_worker").waiting("poll", 0, 59_000)
                .on(102, 102, "pt_data_worker").waiting("poll", 0, 59_000);
        for (int second = 0; second < 60; second++) {
            for (int worker = 101; worker <= 102; worker++) {
                fixture.processSample(worker, "rss", "", second * 1000.0, 2_000_000_000L)
                        .processSample(worker, "private", "", second * 1000.0, (200 + 10L * second) * 1_000_000);
            }
        }
        Finding finding = only("host_memory", fixture);
        assertThat(finding.subject()).isEqualTo("2 workers of pid 100");
        assertThat(finding.value()).isEqualTo(1200.0);
        assertThat(finding.unit()).isEqualTo("MB per minute");
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence()).isEqualTo("what they do not share rose from 1.00 GB to 1.58 GB in 0.5 minutes; "
                + "the host has 8.00 GB left of 32.00 GB, full in about 7 minutes at this rate");
        assertThat(finding.advice())
                .isEqualTo("keep what workers read in NumPy arrays or tensors, not in lists and dicts; or use fewer workers");
    }

    @Test
    void hostMemoryIsSilentForWorkersOfPassesThatEachEndWithAsMuch() {
        RecordingFixture fixture = recording().training(3600, 15)
                .hostSample("memory_total", "", 0, 32_000_000_000L)
                .hostSample("memory_available", "", 179_000, 8_000_000_000L);
        StringBuilder processes = new StringBuilder("[{\"pid\":100,\"ppid\":1,\"comm\":\"python3\"}");
        for (int pass = 0; pass < 3; pass++) {
            for (int worker = 101 + 2 * pass; worker <= 102 + 2 * pass; worker++) {
                processes.append(",{\"pid\":" + worker + ",\"ppid\":100,\"comm\":\"pt_data_worker\"}");
                fixture.on(worker, worker, "pt_data_worker").waiting("poll", pass * 60_000, 59_000);
                for (int second = 0; second < 60; second++) {
                    double at = (pass * 60 + second) * 1000.0;
                    fixture.processSample(worker, "rss", "", at, 2_000_000_000L)
                            .processSample(worker, "private", "", at, (200 + 10L * second) * 1_000_000);
                }
            }
        }
        assertThat(run("host_memory", fixture.footer("zernel.processes", processes + "]"))).isEmpty();
    }

    @Test
    void hostMemoryFiresForATrainingThatKeepsMoreAndMore() {
        RecordingFixture fixture = remembering();
        for (int second = 0; second < 60; second++) {
            // The memory of single steps comes and goes.
            long bytes = (1000 + 5L * second + 2L * (second % 2)) * 1_000_000;
            fixture.processSample(100, "rss", "", second * 1000.0, bytes)
                    .hostSample("cgroup_kept", "/job", second * 1000.0, bytes);
        }
        fixture.processSample(100, "memory_limit", "/job", 0, 4_000_000_000L);
        Finding finding = only("host_memory", fixture);
        assertThat(finding.subject()).isEqualTo("pid 100");
        assertThat(finding.value()).isEqualTo(300.0);
        assertThat(finding.evidence()).isEqualTo("memory in place rose from 1.15 GB to 1.30 GB in 0.5 minutes; "
                + "cgroup /job has 2.70 GB left of 4.00 GB, full in about 9 minutes at this rate");
        assertThat(finding.more()).containsEntry("minutes_left", 9.0);
        assertThat(finding.isKilledSoon()).isTrue();
    }

    @Test
    void aMemoryThatGrewForSecondsIsNotTrustedToGrowForMinutes() {
        RecordingFixture fixture = remembering();
        for (int second = 0; second < 25; second++) {
            long bytes = (1000 + 20L * second) * 1_000_000;
            fixture.processSample(100, "rss", "", second * 1000.0, bytes)
                    .hostSample("cgroup_kept", "/job", second * 1000.0, bytes);
        }
        Finding finding = only("host_memory", fixture);
        assertThat(finding.evidence()).contains("full in about 7 minutes at this rate");
        assertThat(finding.isKilledSoon()).isFalse();
    }

    @Test
    void hostMemoryFiresWhereItIsNearlyFull() {
        RecordingFixture fixture = remembering().hostSample("memory_available", "", 59_500, 1_000_000_000L);
        Finding finding = only("host_memory", fixture);
        assertThat(finding.value()).isEqualTo(96.9);
        assertThat(finding.unit()).isEqualTo("% of the memory");
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence()).isEqualTo("the host has 1.00 GB left of 32.00 GB; 31.00 GB were used at most");
        assertThat(finding.isKilledSoon()).isFalse(); // it may stay like that
    }

    @Test
    void hostMemoryIsSilentWhileMemoryFillsAtTheStartAndForOneStepUp() {
        RecordingFixture warm = remembering();
        RecordingFixture once = remembering();
        for (int second = 0; second < 60; second++) {
            warm.processSample(100, "rss", "", second * 1000.0, (500 + 50L * Math.min(second, 25)) * 1_000_000);
            once.processSample(100, "rss", "", second * 1000.0, second < 45 ? 1_000_000_000L : 1_500_000_000L);
        }
        assertThat(run("host_memory", warm)).isEmpty();
        assertThat(run("host_memory", once)).isEmpty();
        assertThat(run("host_memory", recording().training(100, 15))).isEmpty();
    }

    @Test
    void whatAModelTakesWhileItIsCompiledIsNoGrowthOfItsTraining() {
        RecordingFixture fixture = remembering(recording().region(NEXT, 0, 1).backward(1, 40_000).region(STEP, 40_001, 5));
        for (int i = 0; i < 380; i++) {
            double at = 40_006 + i * 50;
            fixture.region(NEXT, at, 15).backward(at + 25, 20).region(STEP, at + 45, 5);
        }
        for (int second = 0; second < 59; second++) {
            fixture.processSample(100, "rss", "", second * 1000.0, (1000 + 20L * second) * 1_000_000);
        }
        assertThat(run("host_memory", fixture)).isEmpty();
    }

    @Test
    void aCacheThatFillsUpEverSlowerIsNoGrowthThatGoesOn() {
        RecordingFixture fixture = remembering();
        for (int second = 0; second < 60; second++) {
            long bytes = Math.round(6e9 - 5e9 * Math.exp(-second / 15.0));
            fixture.processSample(100, "rss", "", second * 1000.0, bytes);
        }
        assertThat(run("host_memory", fixture)).isEmpty();
    }

    @Test
    void aGrowthThatFillsTheMemoryNoSoonerThanAJobEndsIsNoRisk() {
        // 12 MB more each second.
        assertThat(only("host_memory", growing(8_000_000_000L)).severity()).isEqualTo("high"); // in 11 minutes
        assertThat(only("host_memory", growing(60_000_000_000L)).severity()).isEqualTo("medium"); // in 83 minutes
        assertThat(only("host_memory", growing(90_000_000_000L)).severity()).isEqualTo("low"); // in 125, after one minute
    }

    private static RecordingFixture growing(long available) {
        RecordingFixture fixture = recording().training(1200, 15)
                .hostSample("memory_total", "", 0, 128_000_000_000L)
                .hostSample("memory_available", "", 59_000, available);
        for (int second = 0; second < 60; second++) {
            fixture.processSample(100, "rss", "", second * 1000.0, (1000 + 12L * second) * 1_000_000);
        }
        return fixture;
    }

    /// A minute of training on a host with 8 of 32 GB to spare, by a process that has two workers.
    private static RecordingFixture remembering() {
        return remembering(recording().training(1200, 15));
    }

    private static RecordingFixture remembering(RecordingFixture training) {
        return training
                .footer("zernel.processes", """
                        [{"pid":100,"ppid":1,"comm":"python3"},{"pid":101,"ppid":100,"comm":"pt_data_worker"},
                        {"pid":102,"ppid":100,"comm":"pt_data_worker"}]
                        """)
                .hostSample("memory_total", "", 0, 32_000_000_000L)
                .hostSample("memory_available", "", 59_000, 8_000_000_000L);
    }

    private Finding only(String name, RecordingFixture fixture) {
        return fixture.finding(name, folder);
    }

    private List<Finding> run(String name, RecordingFixture fixture) {
        return fixture.findings(name, folder);
    }
}
