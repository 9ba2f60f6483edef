package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What findings say of the states of training threads: blocked on another thread or process, asleep, in reads and
/// writes, on a CPU in no call.
class StateFindingsTest {
    private static final String KINDS = "[{\"kind\":\"sched\",\"state\":\"attached\"}]";
    /// A module of PyTorch that is called, and one that computes.
    private static final String CALL = "Module._call_impl (/lib/site-packages/torch/nn/modules/module.py:9);";
    private static final String LINEAR = CALL + "Linear.forward (/lib/site-packages/torch/nn/modules/linear.py:3);at::addmm (libtorch_cpu.so)";

    @TempDir
    Path folder;

    @Test
    void statesAddUpToTheStep() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            blocked(fixture, "nanosleep", at + 62, 10, "");
            blocked(fixture, "futex", at + 75, 5, "object = 'futex', addr = 64");
            fixture.event("sched", "off-cpu", at + 85, 4.0, "state = 'preempted', runq_ns = 4000000");
        }
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("""
                    SELECT steps, step_ns, called_ns, between_ns, runnable_ns, thread_ns, asleep_ns, unexplained_ns
                    FROM thread_states
                    """).rows().getFirst().values())
                    .containsExactly(11L, 100e6, 60e6, 21e6, 4e6, 5e6, 10e6, 0.0);
        }
    }

    @Test
    void aCopyThatTheCpuMakesIsTimeInACallAlsoWhereLaunchesWereRecordedInWindows() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS).footer("zernel.detail", """
                {"asked":"auto","recorded":"windows","kinds":["cuda_launch"],"windows":[{"start_ns":1800000000000000000,
                "end_ns":1800000000000000001,"reason":"start","complete":true}]}""");
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.copy("HtoD", "pageable", at + 5, 40, 400_000_000).copy("HtoD", "pinned", at + 50, 0.01, 4096);
            fixture.event("cuda_graph", "cudaGraphLaunch", at + 55, 2.0, "depth = 0").backward(at + 60, 20).region(STEP, at + 90, 10);
        }
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("SELECT step_ns, called_ns, between_ns FROM thread_states").rows().getFirst().values())
                    .containsExactly(100e6, 72e6, 28e6);
            assertThat(database.query("SELECT part, train_ns // 11000000 AS ms FROM phase_parts ORDER BY part").toString())
                    .isEqualTo("part\tms\nbackward\t20\ncompute\t42\noptimizer_step\t10\nunknown\t28");
        }
    }

    @Test
    void gilContentionFiresForWaitsThatTimeOutAtOneLength() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int wait = 0; wait < 6; wait++) {
                blocked(fixture, "futex", i * 100 + 61 + wait * 6, 5, "object = 'futex', addr = 64, status = -110");
            }
        }
        Finding finding = only("gil_contention", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(30.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 30.0 ms of 100.0 ms blocked for Python's lock, in 66 waits of 5.0 ms (median); "
                        + "saves at most 30.0 ms: 100.0 / (100.0 - 30.0) = 1.43x");
        assertThat(run("blocked_on_thread", fixture)).isEmpty();
    }

    @Test
    void gilContentionFiresOnALoadedMachineToo() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int wait = 0; wait < 4; wait++) { // most run again late
                blocked(fixture, "futex", i * 100 + 61 + wait * 9, wait == 0 ? 5.1 : 8, "object = 'futex', addr = 64, status = -110");
            }
        }
        assertThat(only("gil_contention", fixture).lostMillisPerStep()).isEqualTo(29.1);
    }

    /// A thread that writes to a file lets go of the lock before the time-out, most times, and in each part of a step.
    private static RecordingFixture handedOver(long secondFutex) {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int wait = 0; wait < 10; wait++) {
                long addr = wait % 2 == 0 ? 64 : secondFutex;
                boolean timesOut = wait < 2;
                blocked(fixture, "futex", i * 100 + 15 + wait * 6, timesOut ? 5 : 3,
                        "object = 'futex', addr = " + addr + ", status = " + (timesOut ? -110 : 0), "waker_tid = " + (timesOut ? "NULL" : 301 + i));
            }
        }
        return fixture;
    }

    @Test
    void gilContentionFiresWhereTheHolderMostlyLetsGoByItself() {
        Finding finding = only("gil_contention", handedOver(68));
        assertThat(finding.lostMillisPerStep()).isEqualTo(34.0);
        assertThat(finding.evidence())
                .startsWith("mean of 11 steps: 34.0 ms of 100.0 ms blocked for Python's lock, in 110 waits of 3.0 ms (median); "
                        + "12 threads hand it over; ");
        assertThat(run("blocked_on_thread", handedOver(68))).isEmpty();
    }

    @Test
    void gilContentionFiresWithOtherAdviceWhereTheLockIsHeldToPickle() {
        RecordingFixture fixture = handedOver(68).on(100, 301, "python3");
        assertThat(only("gil_contention", fixture).advice()).startsWith("move the work of other threads to processes");
        for (int i = 0; i < 12; i++) {
            fixture.sample(i * 100 + 20, "Thread.run (/usr/lib/python3.12/threading.py:982);_feed (/usr/lib/python3.12/multiprocessing/queues.py:264);"
                    + "ForkingPickler.dumps (/usr/lib/python3.12/multiprocessing/reduction.py:51)");
        }
        assertThat(only("gil_contention", fixture).advice()).startsWith("other threads turn objects into bytes for other processes, or back (pickle): ");
    }

    @Test
    void gilContentionIsSilentForQueuesThatAreAskedAgainAfterThatTime() {
        assertThat(run("gil_contention", handedOver(1024))).isEmpty(); // no two futexes of one condition variable
    }

    @Test
    void gilContentionIsSilentForAQueueThatIsPolled() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int wait = 0; wait < 3; wait++) {
                blocked(fixture, "futex", i * 100 + 61 + wait * 11, 10, "object = 'futex', addr = 64, status = -110");
            }
        }
        assertThat(run("gil_contention", fixture)).isEmpty();
        assertThat(only("blocked_on_thread", fixture).lostMillisPerStep()).isEqualTo(30.0);
    }

    @Test
    void gilContentionIsSilentForALock() {
        assertThat(run("gil_contention", locked(301))).isEmpty();
    }

    /// Where Python keeps its state, and another interpreter that says where it does, or not.
    private static RecordingFixture pythons(RecordingFixture fixture, String another) {
        return fixture.footer("zernel.stacks", """
                {"pythons":[{"file":"python3.12","version":"3.12.1","runtimes":[{"address":32,"bytes":40}]}%s]}""".formatted(another));
    }

    @Test
    void gilContentionFiresForALockInPythonsState() {
        Finding finding = only("gil_contention", pythons(locked(301), ""));
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence()).contains("in 11 waits of 20.0 ms (median); thread 301 hands it over; ");
        assertThat(run("blocked_on_thread", pythons(locked(301), ""))).isEmpty();
    }

    @Test
    void gilContentionIsSilentForWaitsOfItsLengthThatAreElsewhere() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int wait = 0; wait < 6; wait++) {
                blocked(fixture, "futex", i * 100 + 61 + wait * 6, 5, "object = 'futex', addr = 72, status = -110");
            }
        }
        assertThat(run("gil_contention", pythons(fixture, ""))).isEmpty();
        assertThat(only("blocked_on_thread", fixture).lostMillisPerStep()).isEqualTo(30.0);
    }

    @Test
    void gilContentionFiresForWaitsOfItsLengthWhereAnInterpreterDoesNotSayWhereItsStateIs() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int wait = 0; wait < 6; wait++) {
                blocked(fixture, "futex", i * 100 + 61 + wait * 6, 5, "object = 'futex', addr = 72, status = -110");
            }
        }
        Finding finding = only("gil_contention", pythons(fixture, ",{\"file\":\"python3.15\",\"why\":\"too new\"}"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(30.0);
    }

    @Test
    void blockedOnThreadFiresAndNamesTheThread() {
        Finding finding = only("blocked_on_thread", locked(301));
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence())
                .startsWith("mean of 11 steps: 20.0 ms of 100.0 ms blocked on another thread, in 11 waits of 20.0 ms (median); "
                        + "of 11 it is known who ended them: thread 301; ");
    }

    /// The thread that ends the waits waits itself, for so long.
    private static RecordingFixture handedOn(double ms) {
        RecordingFixture fixture = locked(301);
        for (int i = 0; i < 12; i++) {
            fixture.on(100, 301, "python3")
                    .event("sched", "off-cpu", i * 100 + 65, ms, "state = 'sleeping', runq_ns = 0, waker_tid = " + (400 + i % 2))
                    .on(400 + i % 2, 400 + i % 2, "python3").event("io", "write", i * 100 + 79, 0.1, "object = 'pipe:[7]'");
        }
        return fixture;
    }

    @Test
    void blockedOnThreadFiresAndNamesTheProcessThatTheThreadWaitsFor() {
        Finding finding = only("blocked_on_thread", handedOn(12));
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence())
                .contains("thread 301 (python3); for 60 % of it that thread waits for 2 other processes, most for python3 (pid 400); ");
        assertThat(finding.advice()).startsWith("let the other process start a step ahead (Pool.map_async, Executor.submit)");
    }

    @Test
    void blockedOnThreadFiresWithoutAProcessThatTheThreadSeldomWaitsFor() {
        Finding finding = only("blocked_on_thread", handedOn(8));
        assertThat(finding.evidence()).contains("thread 301 (python3); saves at most ");
        assertThat(finding.advice()).startsWith("let the other thread hold the lock for less time");
    }

    /// A thread fetches ahead, waits 80 of 100 ms for its batches, and then for room in the queue; the training thread never waits.
    private static RecordingFixture fetchedAhead() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 20; i++) {
            fixture.backward(i * 100 + 45, 45).region(STEP, i * 100 + 90, 10);
        }
        fixture.on(100, 101, "loader");
        for (int i = 0; i < 22; i++) {
            fixture.region(NEXT, i * 100, 80);
            blocked(fixture, "futex", i * 100 + 80, 20, "object = 'futex', addr = 128", "waker_tid = 100");
        }
        return fixture;
    }

    @Test
    void aThreadThatFetchesAheadIsNoTrainingThread() {
        try (Database database = Recordings.open(fetchedAhead().write(folder.resolve("run.parquet")).toString())) {
            assertThat(database.query("SELECT tid, steps, batches FROM training_threads").toString())
                    .isEqualTo("tid\tsteps\tbatches\n100\t20\t0");
            assertThat(database.query("SELECT tid, count(*) AS waits, median(dur_ns) / 1e6 AS ms FROM data_wait GROUP BY ALL").toString())
                    .isEqualTo("tid\twaits\tms\n101\t22\t80.0");
            assertThat(database.diagnose().findings()).extracting(Finding::name)
                    .doesNotContain("data_bound", "too_few_workers", "storage_bound", "blocked_on_thread");
        }
    }

    @Test
    void blockedOnThreadFiresForATrainingThreadThatWaitsForOneThatFetches() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 20; i++) {
            blocked(fixture, "futex", i * 100, 30, "object = 'futex', addr = 64", "waker_tid = 101");
            fixture.backward(i * 100 + 45, 45).region(STEP, i * 100 + 90, 10);
        }
        fixture.on(100, 101, "loader");
        for (int i = 0; i < 20; i++) {
            fixture.region(NEXT, i * 100, 29);
        }
        Finding finding = only("blocked_on_thread", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(30.0);
        assertThat(finding.evidence()).contains("; of 19 it is known who ended them: thread 101 (loader); ");
    }

    @Test
    void aThreadThatLoadsAndRunsBackwardPassesIsATrainingThreadBesideAnOptimizerOnAnother() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            fixture.on(100, 100, "python3").region(NEXT, i * 100, 30).backward(i * 100 + 45, 45)
                    .on(100, 102, "pt_autograd_0").region(STEP, i * 100 + 60, 5);
        }
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            assertThat(database.query("SELECT tid FROM training_threads").toString()).isEqualTo("tid\n100\n102");
        }
    }

    @Test
    void blockedOnThreadIsSilentForThreadsThatWorkForTheTrainingThread() {
        RecordingFixture fixture = locked(301);
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "futex", i * 100 + 20, 15, "object = 'futex', addr = 128", "waker_tid = 301");
        }
        assertThat(run("blocked_on_thread", fixture)).isEmpty();
    }

    @Test
    void blockedOnThreadFiresForAThreadThatRunsPythonCode() {
        RecordingFixture fixture = locked(301);
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "futex", i * 100 + 20, 15, "object = 'futex', addr = 128", "waker_tid = 301");
        }
        fixture.on(100, 301, "writer").sample(130, "write (/me/train.py:15);dump (/usr/lib/python3.12/pickle.py:9)");
        Finding finding = only("blocked_on_thread", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(35.0);
    }

    @Test
    void asleepFiresForASleepInEachStep() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "clock_nanosleep", i * 100 + 62, 10, "");
        }
        Finding finding = only("asleep", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps without what their longest tenth has more: 10.0 ms of 100.0 ms asleep in clock_nanosleep, 1.0 times a step; "
                        + "saves at most 10.0 ms: 100.0 / (100.0 - 10.0) = 1.11x");
    }

    /// 20 ms in each second step, and for 2 s once.
    @Test
    void asleepFiresForASleepInHalfOfTheStepsAndLeavesOutTheLongestTenth() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        double at = 0;
        for (int i = 0; i < 41; i++) {
            double asleep = i == 30 ? 2000 : i % 2 * 20;
            fixture.backward(at, 30).region(STEP, at + 30, 10);
            if (asleep > 0) {
                blocked(fixture, "clock_nanosleep", at + 40, asleep, "");
            }
            at += 40 + asleep;
        }
        Finding finding = only("asleep", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.5, within(0.01));
        assertThat(finding.maxSpeedup()).isEqualTo(1.26);
    }

    @Test
    void asleepNamesTheThreadThatComputesMeanwhile() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.on(100, 100, "python3");
            blocked(fixture, "clock_nanosleep", i * 100 + 62, 25, "");
            fixture.on(100, 301, "producer").sample(i * 100 + 65, "produce (/me/feed.py:17)")
                    .on(100, 302, "idle").sample(i * 100 + 30, "run (/me/other.py:1)"); // not meanwhile
        }
        Finding finding = only("asleep", fixture);
        assertThat(finding.evidence())
                .contains("1.0 times a step; thread 301 of its process is on a CPU for 80 % of that time, by samples, "
                        + "mostly in feed.py:17 produce; ");
        assertThat(finding.advice()).startsWith("if it waits for that thread: let it work a step ahead");
    }

    @Test
    void asleepIsSilentForOneLongSleep() {
        RecordingFixture fixture = steps();
        blocked(fixture, "clock_nanosleep", 562, 35, "");
        assertThat(run("asleep", fixture)).isEmpty();
    }

    @Test
    void blockedOnProcessFiresForAServerThatIsAskedInEachStep() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "recvfrom", i * 100 + 62, 25, "object = 'socket:[5] tcp'");
        }
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(25.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 25.0 ms of 100.0 ms blocked in 11 waits of 25.0 ms (median), "
                        + "100 % of it in recvfrom on a tcp socket; "
                        + "saves at most 25.0 ms: 100.0 / (100.0 - 25.0) = 1.33x");
        assertThat(finding.advice()).startsWith("ask ahead");
    }

    /// A tracker that is told the loss every fourth step, after short answers in all of them.
    @Test
    void blockedOnProcessFiresForAServerThatIsAskedNowAndThen() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        double at = 0;
        for (int i = 0; i < 40; i++) {
            double ms = i % 4 == 3 ? 100 : 20;
            fixture.backward(at + 1, 5).region(STEP, at + ms - 2, 2);
            blocked(fixture, "poll", at + 7, 0.1, "object = 'socket:[5] tcp'");
            if (i % 4 == 3) {
                blocked(fixture, "poll", at + 8, 80, "object = 'socket:[5] tcp'");
            }
            at += ms;
        }
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.evidence())
                .startsWith("mean of 39 steps: 20.6 ms of 40.5 ms blocked in 49 waits of 0.1 ms (median), at most 80.0 ms, "
                        + "100 % of it in poll on a tcp socket; most of the wait is in 10 of 39 steps; ");
        assertThat(finding.advice()).startsWith("ask less often, or ahead, ");
        assertThat(run("slow_steps", fixture)).isEmpty();
    }

    /// Of 14 ms in the optimizer it has Python's lock for 4.
    @Test
    void slowOptimizerIsSilentWhereItWaitsForPythonsLock() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 20; i++) {
            fixture.backward(i * 50 + 10, 5).region(STEP, i * 50 + 36, 14);
            blocked(fixture, "futex", i * 50 + 37, 5, "object = 'futex', addr = 72, status = -110");
            blocked(fixture, "futex", i * 50 + 43, 5, "object = 'futex', addr = 72, status = -110");
        }
        assertThat(only("gil_contention", fixture).lostMillisPerStep()).isEqualTo(10.0);
        assertThat(run("slow_optimizer", fixture)).isEmpty();
    }

    @Test
    void slowOptimizerFiresWithoutTheTimeThatItWaitsForAnotherThread() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 20; i++) {
            fixture.backward(i * 50 + 10, 5).region(STEP, i * 50 + 20, 30);
            blocked(fixture, "futex", i * 50 + 22, 5, "object = 'futex', addr = 72, status = -110");
        }
        assertThat(only("slow_optimizer", fixture).evidence())
                .startsWith("mean of 19 steps: 25.0 ms of 50.0 ms in the optimizer (10 % of a step is considered normal), "
                        + "without 5.0 ms in it waiting for another thread; saves at most 30.0 ms: ");
    }

    @Test
    void slowOptimizerAdvisesSparseGradientsWhereParametersAreLarge() {
        Finding finding = only("slow_optimizer", stepping("at::native::AVX2::mul_kernel (libtorch_cpu.so)"));
        assertThat(finding.evidence())
                .isEqualTo("mean of 19 steps: 30.0 ms of 50.0 ms in the optimizer (10 % of a step is considered normal); "
                        + "100 % of 57 samples in it are in operators, so parameters are large; filling gradients with zeros "
                        + "takes 10.0 ms more; saves at most 40.0 ms: 50.0 / (50.0 - 40.0) = 5.00x");
        assertThat(finding.advice()).startsWith("sparse=True with SparseAdam for large embeddings, ");
    }

    @Test
    void slowOptimizerDoesNotAdviseSparseAdamToAJobThatHasIt() {
        Finding finding = only("slow_optimizer", stepping("at::native::AVX2::mul_kernel (libtorch_cpu.so)", "Optimizer.step#SparseAdam.step"));
        assertThat(finding.evidence()).doesNotContain("parameters are large");
        assertThat(finding.advice()).startsWith("SparseAdam sorts the rows of each batch ");
    }

    @Test
    void slowOptimizerSaysNothingOfTheSizeOfParametersOnAGpu() {
        RecordingFixture fixture = stepping("[libcuda.so.1]").event("cuda_launch", "cuLaunchKernel", 22, 0.01, "");
        assertThat(only("slow_optimizer", fixture).evidence()).doesNotContain("parameters are large");
    }

    @Test
    void slowOptimizerAdvisesFewerOperatorsWhereParametersAreSmall() {
        for (String around : List.of("at::_ops::mul__Tensor::call (libtorch_cpu.so)", "_single_tensor_adam (/lib/torch/optim/adam.py:9)")) {
            Finding finding = only("slow_optimizer", stepping(around));
            assertThat(finding.evidence()).doesNotContain("parameters are large").contains("; saves at most 30.0 ms: ");
            assertThat(finding.advice()).startsWith("fused=True or foreach=True, ");
        }
    }

    /// Twenty steps of 50 ms on a CPU, 30 of them in an optimizer that runs this, and 10 filling gradients before.
    private static RecordingFixture stepping(String function) {
        return stepping(function, STEP);
    }

    private static RecordingFixture stepping(String function, String step) {
        RecordingFixture fixture = recording().footer(
                "zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"},{\"kind\":\"cuda_launch\",\"state\":\"waiting\"}]");
        for (int i = 0; i < 20; i++) {
            fixture.backward(i * 50 + 10, 10)
                    .sample(i * 50 + 15, "fit (/me/a.py:9);at::native::fill_kernel (libtorch_cpu.so)")
                    .region(step, i * 50 + 20, 30);
            for (int sample = 0; sample < 3; sample++) {
                fixture.sample(i * 50 + 25 + sample * 10, "fit (/me/a.py:10);" + function);
            }
        }
        return fixture;
    }

    @Test
    void blockedOnProcessFiresForACommandInEachStep() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "wait4", i * 100 + 62, 20, "");
        }
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence())
                .contains("100 % of it in wait4 for a process to end; to start them is part of the 20.0 ms on the CPU between calls; ")
                .endsWith("saves at most 40.0 ms: 100.0 / (100.0 - 40.0) = 1.67x");
        assertThat(finding.advice()).startsWith("start no process in each step: do its work by a library, or start it once and keep it; ");
    }

    @Test
    void blockedOnProcessFiresForACommandInSomeSteps() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i += 4) {
            blocked(fixture, "wait4", i * 100 + 62, 20, "");
        }
        assertThat(only("blocked_on_process", fixture).advice()).startsWith("start a process less often: do its work by a library, ");
    }

    /// A server that answers after 5 to 25 ms: each step waits.
    @Test
    void blockedOnProcessDoesNotSayThatMostIsInSomeStepsWhereEachWaits() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "recvfrom", i * 100 + 62, 5 + i % 3 * 10, "object = 'socket:[5] tcp'");
        }
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.evidence()).contains("tcp socket; saves at most ");
        assertThat(finding.advice()).endsWith("or ask for more at once");
    }

    @Test
    void blockedOnProcessFiresForACommandWhoseOutputIsReadInEachStep() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            int child = 500 + 2 * i;
            fixture.fork(i * 100 + 61, child);
            blocked(fixture, "poll", i * 100 + 62, 20, "object = 'pipe:[7]'", "waker_tid = " + (child + 1));
            fixture.on(child, child, "sh").fork(i * 100 + 63, child + 1)
                    .on(child + 1, child + 1, "grep").event("process", "exit", i * 100 + 82, null, "")
                    .on(100, 100, "python3");
        }
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.evidence())
                .contains("100 % of it in poll on a pipe; 11 processes ended them, 11 of them started by the training itself; "
                        + "to start them is part of the 20.0 ms on the CPU between calls; ");
        assertThat(finding.advice()).startsWith("start no process in each step: ");
    }

    @Test
    void blockedOnProcessNamesTheFileWhoseLockAnotherProcessHolds() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "flock", i * 100 + 62, 20, "object = '/data/cache.lock'");
        }
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.evidence()).contains("100 % of it in flock for a lock that processes share ('/data/cache.lock'); ");
        assertThat(finding.advice()).isEqualTo("hold that lock for less time, or take it less often");
    }

    @Test
    void blockedOnProcessFiresForAPipeThatNobodyEmpties() {
        RecordingFixture fixture = writesToAPipe();
        Finding finding = only("blocked_on_process", fixture);
        assertThat(finding.evidence()).contains("100 % of it in write on a pipe; ");
        assertThat(finding.advice()).startsWith("who reads that is slow");
    }

    @Test
    void blockedOnProcessIsSilentForDataWorkers() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "poll", i * 100, 4.5, "object = 'pipe:[7]'");
        }
        assertThat(run("blocked_on_process", fixture)).isEmpty();
    }

    @Test
    void storageReadsFiresForReadsBesideTheDataLoader() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("io", "pread64", i * 100 + 62, 10.0, "status = 0, bytes = 1000, path = '/data/shard.bin'")
                    .event("sched", "off-cpu", i * 100 + 63, 8.0, "state = 'io', runq_ns = 0");
        }
        Finding finding = only("storage_reads", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(10.0); // the call takes 2.0 ms on a CPU, too
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 8.0 ms of 100.0 ms blocked on storage in 1.0 waits, "
                        + "10.0 ms with the time on a CPU in these reads, "
                        + "0 % of it in faults on mapped files; 1 file, the longest on /data/shard.bin; "
                        + "saves at most 10.0 ms: 100.0 / (100.0 - 10.0) = 1.11x");
    }

    @Test
    void storageReadsCountsACallOnceAndNotWhatItWaitsForACpu() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("io", "pread64", i * 100 + 62, 10.0, "status = 0, bytes = 1000, path = '/data/shard.bin'")
                    .event("sched", "off-cpu", i * 100 + 63, 4.0, "state = 'io', runq_ns = 1000000")
                    .event("sched", "off-cpu", i * 100 + 68, 3.0, "state = 'io', runq_ns = 0");
        }
        assertThat(only("storage_reads", fixture).evidence())
                .contains("6.0 ms of 100.0 ms blocked on storage in 2.0 waits, 9.0 ms with the time on a CPU in these reads");
    }

    @Test
    void storageReadsIsSilentForTheDataLoader() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("io", "pread64", i * 100 + 0.2, 4.6, "status = 0, bytes = 1000, path = '/data/shard.bin'")
                    .event("sched", "off-cpu", i * 100 + 0.3, 4.4, "state = 'io', runq_ns = 0");
        }
        assertThat(run("storage_reads", fixture)).isEmpty();
    }

    @Test
    void storageWritesFiresAndSaysWhatSyncsTake() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("io", "write", i * 100 + 62, 2.0, "status = 0, bytes = 1000, path = '/log/train.log'")
                    .event("io", "fsync", i * 100 + 65, 6.0, "status = 0, path = '/log/train.log'");
        }
        Finding finding = only("storage_writes", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(8.0);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 8.0 ms of 100.0 ms in 2.0 calls that write 1.0 kB, 75 % of it in syncs; "
                        + "the longest on /log/train.log; saves at most 8.0 ms: 100.0 / (100.0 - 8.0) = 1.09x");
        assertThat(finding.advice()).startsWith("sync less often");
    }

    @Test
    void storageWritesDoesNotCountWhatASyncWaitsForACpu() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("io", "fsync", i * 100 + 65, 16.0, "status = 0, path = '/log/train.log'")
                    .event("sched", "off-cpu", i * 100 + 66, 14.0, "state = 'io', runq_ns = 10000000");
        }
        assertThat(only("storage_writes", fixture).lostMillisPerStep()).isEqualTo(6.0);
    }

    @Test
    void storageWritesIsSilentForReads() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.io(i * 100 + 62, 20, 1000);
        }
        assertThat(run("storage_writes", fixture)).isEmpty();
    }

    @Test
    void storageWritesIsSilentForPipes() {
        assertThat(run("storage_writes", writesToAPipe())).isEmpty();
    }

    @Test
    void cpuBetweenCallsFiresForWorkBesideTheForwardPass() {
        Finding finding = only("cpu_between_calls", betweenCalls(20));
        // 70 ms outside calls, of which three quarters of backward's 20 ms are assumed.
        assertThat(finding.lostMillisPerStep()).isEqualTo(55.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.evidence())
                .startsWith("median of 11 steps: 70.0 ms of 100.0 ms on the CPU in no recorded call, 30.0 ms in calls; "
                        + "the forward pass is part of it: at half to one and a half of 20.0 ms backward, "
                        + "40.0 ms to 60.0 ms are left; ");
    }

    @Test
    void aCallThatComputesAndWaitsForThreadsOfItsLibraryIsNamedByBothFindings() {
        String read = "batches (/me/train.py:14);read_table (/lib/site-packages/pyarrow/parquet/core.py:9)";
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.sample(i * 100 + 5, read)
                    .blocked("wait", "futex", i * 100 + 20, 20, read, "status = 0", "object = 'futex'", "addr = 64")
                    .event("sched", "off-cpu", i * 100 + 20, 20.0, "state = 'sleeping', runq_ns = 0, waker_tid = 301")
                    .backward(i * 100 + 70, 20).region(STEP, i * 100 + 90, 10);
        }
        Finding waits = only("blocked_on_thread", fixture);
        assertThat(waits.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(waits.evidence())
                .contains("thread 301, which runs no Python code; the same line also takes 20.0 ms on the CPU, by samples (cpu_between_calls); ");
        assertThat(waits.advice()).startsWith("the other thread works for the call in that line: make the call cheaper or rarer, ");
        assertThat(only("cpu_between_calls", fixture).evidence())
                .contains("; in train.py:14 batches it also waits 20.0 ms for other threads of the process (blocked_on_thread); ");
    }

    @Test
    void cpuBetweenCallsFiresWhateverBackwardOfTheWarmUpTakes() {
        assertThat(only("cpu_between_calls", betweenCalls(2000)).evidence())
                .isEqualTo(only("cpu_between_calls", betweenCalls(20)).evidence());
    }

    /// Twelve steps of 100 ms without a DataLoader, 70 ms of each in no call; the backward pass of the first takes so long.
    private static RecordingFixture betweenCalls(double firstBackwardMs) {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            double at = i == 0 ? 0 : i * 100 + firstBackwardMs - 20;
            double backward = i == 0 ? firstBackwardMs : 20;
            fixture.backward(at + 70, backward).region(STEP, at + 70 + backward, 10);
        }
        return fixture;
    }

    @Test
    void cpuBetweenCallsTellsTheForwardPassBySamplesOfModules() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 5; sample++) {
                fixture.sample(i * 100 + 2 + sample * 6, "fit (/me/a.py:9);" + (sample == 0 ? LINEAR : "norms (/me/a.py:2)"));
            }
        }
        Finding finding = only("cpu_between_calls", fixture);
        // Of 35 ms in no call, a fifth is the forward pass.
        assertThat(finding.lostMillisPerStep()).isEqualTo(28.0);
        assertThat(finding.evidence()).contains("; the forward pass is part of it: 11 of its 55 samples compute in a module, ");
    }

    @Test
    void cpuBetweenCallsFiresForPythonOfTheJobThatModulesCallAndForHooks() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        List<String> stacks = List.of(
                LINEAR,
                // Python of the job in its module, and turning its list into a tensor
                CALL + "Net.forward (/me/net.py:3);mask (/me/net.py:5)",
                CALL + "Net.forward (/me/net.py:3);mask (/me/net.py:6);torch::utils::recursive_store (libtorch_python.so)",
                // a hook, with an operator and without
                CALL + "Module._call_impl.<locals>.inner (/lib/site-packages/torch/nn/modules/module.py:8);watch (/me/watch.py:2);at::norm (libtorch_cpu.so)",
                CALL + "Module._call_impl.<locals>.inner (/lib/site-packages/torch/nn/modules/module.py:8);watch (/me/watch.py:3)");
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 5; sample++) {
                fixture.sample(i * 100 + 2 + sample * 6, "fit (/me/a.py:9);" + stacks.get(sample));
            }
        }
        Finding finding = only("cpu_between_calls", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(28.0);
        assertThat(finding.evidence()).contains("; the forward pass is part of it: 11 of its 55 samples compute in a module, ")
                .contains(" are left; 44 more are in Python code of its own that modules call, or in hooks of theirs; ");
    }

    /// What a module computes in the forward of a job's own class is the forward pass, however long it takes.
    @Test
    void cpuBetweenCallsIsSilentForOperatorsThatAModuleOfTheJobCalls() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 80, 10).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 12; sample++) {
                fixture.sample(i * 100 + 2 + sample * 6, "fit (/me/a.py:9);" + CALL
                        + "Net.forward (/me/net.py:3);attend (/me/net.py:5);" + (sample % 2 == 0 ? "at::bmm (libtorch_cpu.so)" : "[libc.so.6]"));
            }
        }
        assertThat(run("cpu_between_calls", fixture)).isEmpty();
    }

    @Test
    void pythonInPassesFiresForHooksOfGradients() {
        Finding finding = only("python_in_passes", hooked("hook (/me/a.py:21)"));
        // Of 100 ms on the CPU, four tenths.
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.evidence())
                .startsWith("median of 11 steps: 100.0 ms on the CPU; 44 of 66 samples of the backward pass are in Python code"
                        + " of its own, of 110 in all: 30.7 ms to 49.3 ms; ");
        assertThat(finding.lines()).extracting(FindingLine::text).containsExactly("100 % of that Python code: a.py:21 hook");
    }

    @Test
    void pythonInPassesFiresForPythonInTheForwardPassOfALoopWithADataLoader() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.region(NEXT, i * 100, 5).backward(i * 100 + 65, 25).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 10; sample++) {
                fixture.sample(i * 100 + 2 + sample * 10, "fit (/me/a.py:9);" + (sample < 1 || sample > 4 ? LINEAR : CALL + "Net.forward (/me/net.py:3);mask (/me/net.py:5)"));
            }
        }
        Finding finding = only("python_in_passes", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.evidence()).contains("; 44 of 66 samples of the forward pass are in Python code of its own, ");
        assertThat(finding.lines()).extracting(FindingLine::text).containsExactly("100 % of that Python code: net.py:5 mask");
    }

    @Test
    void pythonInPassesIsSilentForOperatorsThatHooksCall() {
        assertThat(run("python_in_passes", hooked("hook (/me/a.py:21);at::norm (libtorch_cpu.so)"))).isEmpty();
    }

    private static final String CHECKPOINT = " (/lib/site-packages/torch/utils/checkpoint.py:3)";

    @Test
    void recomputationFiresForForwardPassesInABackwardPass() {
        Finding finding = only("recomputation", hooked("_checkpoint_hook.__init__.<locals>.unpack_hook" + CHECKPOINT + ";Block.forward (/me/net.py:3)"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(30.658);
        assertThat(finding.evidence())
                .startsWith("median of 11 steps: 100.0 ms on the CPU; 44 of 110 samples are in parts of the forward pass that activation "
                        + "checkpointing computes again; saves at most 49.3 ms: ");
        assertThat(finding.lines()).extracting(FindingLine::text).containsExactly("100 % of the second forward passes: net.py:3 Block.forward");
        assertThat(only("recomputation", hooked("CheckpointFunction.backward" + CHECKPOINT + ";at::mm (libtorch_cpu.so)")).lostMillisPerStep())
                .isEqualTo(40.0);
    }

    @Test
    void recomputationIsSilentForTheBackwardPassOfSuchParts() {
        assertThat(run("recomputation", hooked("CheckpointFunction.backward" + CHECKPOINT
                        + ";_engine_run_backward (/lib/site-packages/torch/autograd/graph.py:7);at::mm (libtorch_cpu.so)")))
                .isEmpty();
    }

    @Test
    void slowTypesFiresForHalfPrecisionOnACpu() {
        Finding finding = only("slow_types", hooked("at::native::cpublas::(anonymous namespace)::cpublas_gemm_impl (libtorch_cpu.so)"));
        // Of 100 ms on the CPU, four tenths.
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(15.329); // half of 30.7
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.evidence())
                .startsWith("median of 11 steps: 100.0 ms on the CPU; at least 40 % of 110 samples compute in half precision (float16 or "
                        + "bfloat16); float32 is assumed to save 50 % of it at least; saves at most 99.9 ms: "); // the rest has no name
        assertThat(finding.advice()).startsWith("float32 on a CPU: ");
        assertThat(finding.lines()).extracting(FindingLine::text).containsExactly("100 % of that arithmetic: a.py:9 fit -> _engine_run_backward");
    }

    /// oneDNN has no code of its own for some operators in half precision, and PyTorch's loops say in mangled names what they are of.
    @Test
    void slowTypesKnowsReferenceCodeAndMangledNames() {
        String reference = "dnnl::impl::cpu::ref_convolution_bwd_weights_t::execute_backward_weights(dnnl";
        assertThat(only("slow_types", hooked(reference + " (libtorch_cpu.so)")).evidence()).contains(" compute in half precision ");
        String loop = "_ZN2at8internal15invoke_parallelIZNS_12parallel_forIZNS_6nativeL6im2colIdEEvPKT_lllllllllllllPS5_bEUlllE0_EEvlllRS6_EUlllE_EEvlllSA_";
        assertThat(only("slow_types", hooked(loop + " (libtorch_cpu.so)")).evidence())
                .contains(" compute in double precision ", "; 40 % copy for convolutions");
        assertThat(run("slow_types", hooked(loop.replace("im2colIdE", "im2colIfE") + " (libtorch_cpu.so)"))).isEmpty();
    }

    @Test
    void slowTypesFiresForDoublePrecisionWithHalfOfItsTime() {
        Finding finding = only("slow_types", hooked("mkl_blas_def_dgemm_kernel_zen (libtorch_cpu.so)"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence()).contains("at least 40 % of 110 samples compute in double precision (float64); float32 is assumed to save 50 % of it; ");
        assertThat(finding.advice()).startsWith("float32, where its precision does: ");
    }

    @Test
    void slowTypesFiresForConvolutionsInDoublePrecisionWithAllOfTheirTime() {
        Finding finding = only("slow_types", hooked("at::native::(anonymous namespace)::unfolded2d_copy<double> (libtorch_cpu.so)"));
        assertThat(finding.lostMillisPerStep()).isEqualTo(40.0);
        assertThat(finding.leastLostMillisPerStep()).isEqualTo(15.329);
        assertThat(finding.evidence()).contains("; 40 % copy for convolutions, which no library computes in it; float32 is assumed to save 50 % of it at least; ");
    }

    @Test
    void slowTypesIsSilentForSinglePrecisionAndForLittleOfAnother() {
        for (String fast : List.of(
                "mkl_blas_def_sgemm_kernel_zen",
                "Sleef_expf16_u10", // of 16 numbers in float32
                "jit_avx512_core_bf16_convolution_bwd_weights_t", // instructions for bfloat16
                "void at::native::AVX2::add_kernel<c10::BFloat16>(at::TensorIteratorBase&)",
                "at::native::std_var_kernel<at::native::WelfordOps<float double>>")) {
            assertThat(run("slow_types", hooked(fast + " (libtorch_cpu.so)"))).as(fast).isEmpty();
        }
        RecordingFixture little = hooked("mkl_blas_def_sgemm_kernel_zen (libtorch_cpu.so)");
        for (int i = 0; i < 12; i++) {
            little.sample(i * 100 + 7, "fit (/me/a.py:9);mkl_blas_def_dgemm_kernel_zen (libtorch_cpu.so)");
        }
        assertThat(run("slow_types", little)).isEmpty();
    }

    /// Twelve steps of 100 ms without a DataLoader, 60 ms of each backward; in 40 of it a hook runs this.
    private static RecordingFixture hooked(String hook) {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        String engine = "fit (/me/a.py:9);_engine_run_backward (/lib/site-packages/torch/autograd/graph.py:7);";
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 30, 60).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 10; sample++) {
                fixture.sample(i * 100 + 2 + sample * 10, sample < 5 || sample == 9 ? engine + "at::mm (libtorch_cpu.so)" : engine + hook);
            }
        }
        return fixture;
    }

    @Test
    void cpuBetweenCallsCountsWhatModulesCallOfTheStandardLibrary() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 5; sample++) {
                fixture.sample(i * 100 + 2 + sample * 6, "fit (/me/train.py:9);Module._call_impl (/lib/site-packages/torch/nn/modules/module.py:9);"
                        + (sample == 0 ? "Linear.forward (/lib/site-packages/torch/nn/modules/linear.py:3)" : "extract (/usr/lib/python3.12/traceback.py:4);[libc.so.6]"));
            }
        }
        Finding finding = only("cpu_between_calls", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(28.0);
        assertThat(finding.evidence()).contains("; the forward pass is part of it: 11 of its 55 samples compute in a module, ")
                .contains("; 44 more are in the standard library that modules call, most in traceback.py; ");
        assertThat(run("anomaly_detection", fixture)).isEmpty();
    }

    private static final String FORMATS = "format_stack (/lib/site-packages/torch/fx/traceback.py:4);extract_stack (/usr/lib/python3.12/traceback.py:4)";

    /// Ten steps and a first one of 100 ms, 30 ms of each in a forward pass and 55 in the backward pass, of which 10 look for NaN.
    private static RecordingFixture detecting(String caller, String formats) {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        String module = "fit (/me/train.py:9);Module._call_impl (/lib/site-packages/torch/nn/modules/module.py:9);";
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 5; sample++) {
                fixture.sample(i * 100 + 2 + sample * 6, module + (sample == 0 ? LINEAR : caller + ";" + formats));
            }
            fixture.sample(i * 100 + 50, "void at::native::or_kernel_impl (libtorch_cpu.so)").sample(i * 100 + 70, "at::mm (libtorch_cpu.so)");
        }
        return fixture;
    }

    @Test
    void anomalyDetectionFiresWherePyTorchFormatsTheStackOfEachOperator() {
        RecordingFixture fixture = detecting("Linear.forward (/lib/site-packages/torch/nn/modules/linear.py:3)", FORMATS);
        Finding finding = only("anomaly_detection", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(71.429);
        assertThat(finding.evidence()).contains("; of 77 samples, 44 format the stack of an operator and 11 look for NaN in gradients, ");
        assertThat(finding.advice()).startsWith("leave out torch.autograd.set_detect_anomaly(True)");
        assertThat(run("cpu_between_calls", fixture)).isEmpty();
    }

    @Test
    void anomalyDetectionIsSilentWhereTheUsersOwnCodeFormatsStacks() {
        assertThat(run("anomaly_detection", detecting("Net.forward (/me/net.py:3)", "format_stack (/usr/lib/python3.12/traceback.py:4)"))).isEmpty();
        assertThat(run("anomaly_detection", detecting("Linear.forward (/lib/site-packages/torch/nn/modules/linear.py:3)", "linear (/lib/site-packages/torch/a.py:3)")))
                .isEmpty();
    }

    /// Of `cProfile` its library tells, of a debugger in Python its functions; who called `cProfile.run` tells nothing.
    @Test
    void cpuBetweenCallsNamesWhatFollowsEachCallOfPython() {
        String run = "<module> (/me/train.py:30);run (/usr/lib/python3.12/cProfile.py:16);Profile.run (/usr/lib/python3.12/bdb.py:3);";
        for (List<String> traced : List.of(
                List.of("cProfile", "RotatingTree_Get (_lsprof.cpython-312-x86_64-linux-gnu.so)"),
                List.of("a debugger (bdb)", "Bdb.trace_dispatch (/usr/lib/python3.12/bdb.py:90)"),
                List.of("coverage", "CTracer_trace (tracer.cpython-312-x86_64-linux-gnu.so)"),
                List.of("", "step (tracer.cpython-312-x86_64-linux-gnu.so)"),
                List.of("", "norms (/me/a.py:2)"))) {
            RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
            for (int i = 0; i < 12; i++) {
                fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
                for (int sample = 0; sample < 5; sample++) {
                    fixture.sample(i * 100 + 2 + sample * 6, run + "fit (/me/a.py:9);"
                            + (sample == 0 ? LINEAR : sample == 1 ? traced.getLast() : "norms (/me/a.py:2)"));
                }
            }
            Finding finding = only("cpu_between_calls", fixture);
            assertThat(finding.lostMillisPerStep()).isEqualTo(28.0);
            if (traced.getFirst().isEmpty()) {
                assertThat(finding.evidence()).doesNotContain("follows each call");
                assertThat(finding.advice()).startsWith("make what its lines do cheaper");
            } else {
                assertThat(finding.evidence()).contains("; 11 samples, 7.0 ms, are in " + traced.getFirst() + ", which follows each call of Python ");
                assertThat(finding.leastLostMillisPerStep()).isEqualTo(7.0);
                assertThat(finding.advice()).startsWith("leave out " + traced.getFirst() + ", which is on all along, and see what is left; ");
            }
        }
    }

    @Test
    void cpuBetweenCallsIsSilentForTheForwardPass() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
        }
        assertThat(run("cpu_between_calls", fixture)).isEmpty();
    }

    @Test
    void cpuBetweenCallsIsSilentForAForwardPassThatSamplesShow() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 35, 55).region(STEP, i * 100 + 90, 10);
            for (int sample = 0; sample < 5; sample++) {
                fixture.sample(i * 100 + 2 + sample * 6, "Module._call_impl (/lib/site-packages/torch/nn/modules/module.py:9)");
            }
        }
        assertThat(run("cpu_between_calls", fixture)).isEmpty();
    }

    /// Inference has no backward pass that says how long the forward pass is.
    @Test
    void cpuBetweenCallsIsSilentForAForwardPassOfInferenceThatSamplesShow() {
        for (int own : new int[] {0, 3}) {
            RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
            for (int i = 0; i < 12; i++) {
                fixture.region(NEXT, i * 100, 5);
                for (int sample = 0; sample < 5; sample++) {
                    fixture.sample(i * 100 + 7 + sample * 18, "main (/me/embed.py:37);" + (sample < own ? "norms (/me/embed.py:2)" : LINEAR));
                }
            }
            assertThat(run("cpu_between_calls", fixture)).hasSize(own > 0 ? 1 : 0);
        }
    }

    @Test
    void pageFaultsFiresForPageFaultsInEachStepOfAMemoryThatDoesNotGrow() {
        Finding finding = only("page_faults", faulting(300_000_000L, 0));
        assertThat(finding.value()).isEqualTo(1000.0);
        assertThat(finding.severity()).isEqualTo("low");
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence())
                .isEqualTo("mean of 39 steps of 50.0 ms: 1000 page faults without I/O, 4.1 MB at least; 30 % of its CPU time, "
                        + "15.0 ms a step, is in the kernel; memory in place changed by 0 B meanwhile");
    }

    @Test
    void pageFaultsCostsWhatSamplesFoundInFaultsAndInCallsForMemory() {
        RecordingFixture fixture = faulting(300_000_000L, 0);
        for (int step = 1; step < 40; step++) {
            fixture.sample(step * 50 + 1, "f (/me/a.py:2)", step % 3 == 0 ? 12 : -1)
                    .sample(step * 50 + 21, "f (/me/a.py:3)", 0)
                    .sample(step * 50 + 41, "f (/me/a.py:4)");
        }
        Finding finding = only("page_faults", fixture);
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.lostMillisPerStep()).isEqualTo(20.0);
        assertThat(finding.evidence())
                .endsWith("; 39 samples found the training thread in page faults and calls for memory, 20.0 ms a step; "
                        + "saves at most 20.0 ms: 50.0 / (50.0 - 20.0) = 1.67x");
        assertThat(finding.lines()).singleElement().extracting(FindingLine::line).isEqualTo("a.py:2 f");
    }

    @Test
    void pageFaultsIsSilentWhereOtherThreadsHaveThem() {
        RecordingFixture fixture = faulting(300_000_000L, 0);
        for (int step = 1; step < 40; step++) {
            fixture.sample(step * 50 + 1, "f (/me/a.py:2)", 0).sample(step * 50 + 21, "f (/me/a.py:3)", 0);
        }
        assertThat(run("page_faults", fixture)).isEmpty();
        assertThat(run("page_faults", fixture.sample(490, "f (/me/a.py:2)", -1))).isEmpty(); // nearly none
    }

    @Test
    void pageFaultsIsSilentForAMemoryThatGrowsAndForAProcessThatIsSeldomInTheKernel() {
        assertThat(run("page_faults", faulting(300_000_000L, 41_000_000))).isEmpty();
        assertThat(run("page_faults", faulting(40_000_000L, 0))).isEmpty();
    }

    @Test
    void pageFaultsIsSilentWhereOnlyCheckpointsFaultMemoryIn() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int step = 0; step < 120; step++) {
            double at = step * 50 + (step < 60 ? 0 : 3000);
            fixture.region(NEXT, at, 15).backward(at + 25, 20).region(STEP, at + 45, 5);
        }
        fixture.event("io_open", "openat", 3001, 0.1, "path = '/ckpt/checkpoint.pt', status = 4, writable = 1");
        for (int second = 0; second < 10; second++) {
            int saved = Math.clamp(second - 3, 0, 3);
            fixture.processSample(100, "cpu", "", second * 1000.0, second * 1_000_000_000L)
                    .processSample(100, "cpu_system", "", second * 1000.0, saved * 800_000_000L)
                    .processSample(100, "minor_faults", "", second * 1000.0, saved * 50_000L)
                    .processSample(100, "rss", "", second * 1000.0, 1_000_000_000);
        }
        assertThat(run("page_faults", fixture)).isEmpty();
    }

    /// Two seconds of steps of 50 ms, each with 1,000 page faults.
    ///
    /// @param systemNanos in the kernel, of each second
    /// @param growth of memory in place, in bytes each second
    private static RecordingFixture faulting(long systemNanos, long growth) {
        RecordingFixture fixture = recording().training(40, 15).footer("zernel.kinds", KINDS);
        for (int second = 0; second < 5; second++) {
            fixture.processSample(100, "cpu", "", second * 1000.0, second * 1_000_000_000L)
                    .processSample(100, "cpu_system", "", second * 1000.0, second * systemNanos)
                    .processSample(100, "minor_faults", "", second * 1000.0, second * 20_000L)
                    .processSample(100, "rss", "", second * 1000.0, 1_000_000_000 + second * growth);
        }
        return fixture;
    }

    @Test
    void unexplainedTimeFiresForTimeOffTheCpuInNoCall() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("sched", "off-cpu", i * 100 + 61, 30.0, "state = 'sleeping'");
        }
        Finding finding = only("unexplained_time", fixture);
        assertThat(finding.lostMillisPerStep()).isEqualTo(30.0);
        assertThat(finding.evidence())
                .isEqualTo("median of 11 steps: 30.0 ms of 100.0 ms off the CPU in no recorded call; "
                        + "saves at most 30.0 ms: 100.0 / (100.0 - 30.0) = 1.43x");
    }

    @Test
    void unexplainedTimeNamesTheCallInWhichAnEventLoopWaits() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "epoll_wait", i * 100 + 61, 30, "object = 'anon_inode:[eventpoll]'");
        }
        Finding finding = only("unexplained_time", fixture);
        assertThat(finding.evidence())
                .startsWith("median of 11 steps: 30.0 ms of 100.0 ms off the CPU, 100 % of it in epoll_wait, "
                        + "as event loops such as asyncio's wait; ");
        assertThat(finding.advice()).startsWith("start what the loop awaits a step ahead: ");
    }

    @Test
    void unexplainedTimeIsSilentForWorkOnTheCpu() {
        assertThat(run("unexplained_time", steps())).isEmpty();
    }

    /// Twelve steps of 100 ms: data 5 ms, forward 15 ms, backward 30 ms, optimizer 10 ms, and 40 ms in no call.
    private static RecordingFixture steps() {
        RecordingFixture fixture = recording().footer("zernel.kinds", KINDS);
        for (int i = 0; i < 12; i++) {
            fixture.region(NEXT, i * 100, 5).backward(i * 100 + 20, 30).region(STEP, i * 100 + 50, 10);
        }
        return fixture;
    }

    /// The same; for 20 ms of each the thread waits for a lock that another one holds.
    private static RecordingFixture locked(long holder) {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "futex", i * 100 + 65, 20, "object = 'futex', addr = 64", "waker_tid = " + holder);
        }
        return fixture;
    }

    /// The same; for 20 ms of each the thread writes to a pipe that is full.
    private static RecordingFixture writesToAPipe() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("io", "write", i * 100 + 62, 20.0, "status = 0, bytes = 1000, path = 'pipe:[7]'")
                    .event("sched", "off-cpu", i * 100 + 62, 20.0, "state = 'sleeping', runq_ns = 0");
        }
        return fixture;
    }

    private static void blocked(RecordingFixture fixture, String call, double at, double ms, String columns) {
        blocked(fixture, call, at, ms, columns, "waker_tid = NULL");
    }

    private static void blocked(
            RecordingFixture fixture, String call, double at, double ms, String columns, String scheduling) {
        fixture.event("wait", call, at, ms, columns.contains("status") ? columns : join("status = 0", columns))
                .event("sched", "off-cpu", at, ms, "state = 'sleeping', runq_ns = 0, " + scheduling);
    }

    private static String join(String first, String second) {
        return second.isEmpty() ? first : first + ", " + second;
    }

    private Finding only(String name, RecordingFixture fixture) {
        return fixture.finding(name, folder);
    }

    private List<Finding> run(String name, RecordingFixture fixture) {
        return fixture.findings(name, folder);
    }
}
