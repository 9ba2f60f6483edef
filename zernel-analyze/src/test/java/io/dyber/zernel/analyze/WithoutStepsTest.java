package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What findings say of processes of which nothing tells steps.
class WithoutStepsTest {
    private static final String LOOP = "<module> (/me/serve.py:50);"
            + "BaseEventLoop._run_once (/usr/lib/python3.12/asyncio/base_events.py:1);";
    private static final String HANDLER = LOOP + "Handle._run (/usr/lib/python3.12/asyncio/events.py:1);features (/me/serve.py:15)";
    private static final String COMPILER = "<module> (/me/jaxed.py:15);cache.<locals>.miss (/v/site-packages/jax/_src/pjit.py:1);"
            + "backend_compile (/v/site-packages/jax/_src/compiler.py:1)";
    private static final String TORCH = "<module> (/me/train.py:17);OptimizedModule.__call__ (/v/site-packages/torch/_dynamo/eval_frame.py:1);"
            + "_compile (/v/site-packages/torch/_dynamo/convert_frame.py:1)";

    @TempDir
    Path folder;

    @Test
    void eventLoopBlockedFiresForACallThatBlocksItInAHandler() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            fixture.blocked("wait", "recvfrom", i * 100, 40, HANDLER + ";recv (libc.so.6)", "object = 'socket:[7] tcp'")
                    .blocked("wait", "epoll_wait", i * 100 + 50, 50, LOOP + "EpollSelector.select (/usr/lib/python3.12/selectors.py:1)");
        }
        List<Finding> findings = run("event_loop_blocked", fixture);
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.severity()).isEqualTo("high");
            assertThat(finding.value()).isEqualTo(40.0);
            assertThat(finding.evidence()).isEqualTo("thread 100: 0.80 s of 2.00 s blocked in 20 calls of 40.0 ms (median), at most 40.0 ms, "
                    + "below the loop; meanwhile the loop serves nothing else");
            assertThat(finding.advice()).contains("asyncio.to_thread");
            assertThat(finding.lines().getFirst().place()).isEqualTo("serve.py:15 features -> recv");
        });
    }

    @Test
    void eventLoopBlockedIsSilentForTheLoopsOwnWaitAndForWork() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 20; i++) {
            fixture.blocked("wait", "epoll_wait", i * 100, 50, LOOP + "EpollSelector.select (/usr/lib/python3.12/selectors.py:1)")
                    .sample(i * 100 + 70, HANDLER)
                    .on(100, 101, "pool").blocked("wait", "recvfrom", i * 100, 90, "work (/me/serve.py:9)", "object = 'socket:[7] tcp'")
                    .on(100, 100, "python3");
        }
        assertThat(run("event_loop_blocked", fixture)).isEmpty();
    }

    /// Three threads that take turns: each waits for 20 of 30 ms.
    private static RecordingFixture inLine(String stack, long lock, int waker) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 60; i++) {
            int tid = 101 + i % 3;
            fixture.on(100, tid, "server")
                    .blocked("wait", "futex", i * 10, 20, stack, "object = 'futex', addr = " + lock)
                    .event("sched", "off-cpu", i * 10 + 1, 19.0, "state = 'sleeping', waker_tid = " + (waker == 0 ? 101 + (i + 2) % 3 : waker))
                    .blocked("wait", "recvfrom", i * 10 + 20, 9, "get (/me/cache.py:12);fetch (/me/cache.py:9)", "object = 'socket:[7] tcp'")
                    .on(100, 109, "idle").blocked("wait", "futex", i * 10, 9, "gomp_thread_start (libgomp.so.1)", "object = 'futex', addr = 8");
        }
        return fixture;
    }

    @Test
    void lockContentionFiresForThreadsThatHandALockToEachOther() {
        Finding finding = run("lock_contention", inLine("get (/me/cache.py:12)", 4096, 0)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(1.939, within(0.001));
        assertThat(finding.evidence()).isEqualTo("3 threads waited 1.20 s together in 0.62 s, in 60 waits of 20.0 ms (median), "
                + "for a lock that they hand to each other");
        assertThat(finding.advice()).startsWith("hold the lock for less time: ");
        assertThat(finding.lines().stream().map(FindingLine::text)).containsExactly(
                "100 % of the waits: cache.py:12 get -> futex",
                "100 % of what is done meanwhile by the thread that has it: cache.py:9 fetch -> recvfrom");
    }

    /// A pool's threads hand the lock of its queue to each other, too, while there is no task.
    @Test
    void lockContentionIsSilentForThreadsOfAPoolThatWaitForWork() {
        assertThat(run("lock_contention", inLine("_worker (/usr/lib/python3.12/concurrent/futures/thread.py:81)", 4096, 0))).isEmpty();
    }

    @Test
    void lockContentionFiresForPythonsLock() {
        RecordingFixture fixture = inLine("get (/me/cache.py:12)", 4096, 900)
                .footer("zernel.stacks", "{\"pythons\":[{\"file\":\"python3\",\"runtimes\":[{\"address\":4000,\"bytes\":97}]}]}");
        Finding finding = run("lock_contention", fixture).getFirst();
        assertThat(finding.unit()).isEqualTo("threads wait for Python's lock (GIL), on average");
        assertThat(finding.advice()).startsWith("Python code runs in one thread at a time: ");
    }

    @Test
    void lockContentionSaysThatThreadsWhichSendToAPoolOfProcessesSendTooMuch() {
        RecordingFixture fixture = inLine("get (/me/cache.py:12)", 4096, 900)
                .footer("zernel.stacks", "{\"pythons\":[{\"file\":\"python3\",\"runtimes\":[{\"address\":4000,\"bytes\":97}]}]}")
                .on(100, 101, "server");
        for (int i = 0; i < 20; i++) {
            fixture.sample(i * 30 + 25, i % 2 == 0 ? "dump (/v/site-packages/joblib/externals/loky/backend/reduction.py:207)" : "get (/me/cache.py:12)");
        }
        Finding finding = run("lock_contention", fixture).getFirst();
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.evidence()).endsWith("for Python's lock; what they compute is mostly to pickle, send and receive objects");
        assertThat(finding.advice()).startsWith("send less between the processes: ");
    }

    /// A call that has a faster way is what keeps Python's lock, and stands before the threads that wait for it.
    @Test
    void lockContentionIsMediumWhereMostThatThreadsComputeHasAFasterWay() {
        RecordingFixture fixture = inLine("get (/me/cache.py:12)", 4096, 900)
                .footer("zernel.stacks", "{\"pythons\":[{\"file\":\"python3\",\"runtimes\":[{\"address\":4000,\"bytes\":97}]}]}");
        fixture.on(100, 104, "server");
        for (int i = 0; i < 30; i++) {
            fixture.sample(i * 20 + 5, i % 3 == 0 ? "answer (/me/serve.py:12)" : "answer (/me/serve.py:9);get (/v/site-packages/requests/api.py:1)");
        }
        assertThat(run("lock_contention", fixture).getFirst().severity()).isEqualTo("medium");
        assertThat(run("slow_calls", fixture).getFirst().severity()).isEqualTo("high");
    }

    /// One of two threads waits for 80 of 100 ms.
    @Test
    void aThreadThatWaitsForMostOfItsTimeIsSevere() {
        RecordingFixture fixture = recording()
                .footer("zernel.stacks", "{\"pythons\":[{\"file\":\"python3\",\"runtimes\":[{\"address\":4000,\"bytes\":97}]}]}");
        for (int i = 0; i < 30; i++) {
            fixture.on(100, 101, "server").blocked("wait", "futex", i * 100, 80, "answer (/me/serve.py:12)", "object = 'futex', addr = 4096")
                    .on(100, 102, "busy").io(i * 100 + 99, 1, 1);
        }
        Finding finding = run("lock_contention", fixture).getFirst();
        assertThat(finding.value()).isEqualTo(0.8, within(0.01));
        assertThat(finding.severity()).isEqualTo("high");
    }

    @Test
    void lockContentionIsSilentForThreadsThatWaitForWorkAndForThoseOfOpenMp() {
        assertThat(run("lock_contention", inLine("get (/me/queue.py:12)", 4096, 100))).isEmpty();
        assertThat(run("lock_contention", inLine("gomp_barrier_wait (libgomp.so.1)", 4096, 0))).isEmpty();
    }

    /// A server of ten seconds whose collector runs for 100 ms, so many times a second, between two seconds.
    private static RecordingFixture collecting(int from, int until, String name) {
        RecordingFixture fixture = recording().io(0, 1, 1).io(9_999, 1, 1);
        for (int i = from * 4; i < until * 4; i++) {
            fixture.on(100, 101 + i % 2, "server").event("gc", name, i * 250, 100.0, "generation = 2")
                    .sample(i * 250 + 50, "answer (/me/serve.py:22);gc_collect_main (python3)")
                    .sample(i * 250 + 120, "answer (/me/serve.py:9)");
        }
        return fixture;
    }

    @Test
    void collectorPausesFiresForAServerThatCollectsAgainAndAgain() {
        Finding finding = run("collector_pauses", collecting(0, 10, "gc.collect")).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(40.0);
        assertThat(finding.evidence()).isEqualTo("4.00 s of 10.00 s in 40 runs of 100.0 ms (median), 100.0 ms the longest; "
                + "100 % of that time over all objects; gc.collect() asked for 40, 100 % of the time");
        assertThat(finding.advice()).startsWith("remove gc.collect() ");
        assertThat(finding.lines().stream().map(FindingLine::text))
                .containsExactly("100 % of the collections: serve.py:22 answer");
        assertThat(run("collector_pauses", collecting(0, 10, "automatic")).getFirst().advice()).startsWith("gc.freeze() ");
    }

    @Test
    void collectorPausesIsSilentWhereItRunsAtTheStartOnly() {
        assertThat(run("collector_pauses", collecting(0, 4, "automatic"))).isEmpty();
    }

    /// A program that imports much collects meanwhile, and again when the interpreter ends.
    @Test
    void collectorPausesIsSilentWhereItRunsWhileModulesAreImportedAndWhileTheInterpreterEnds() {
        RecordingFixture fixture = recording().io(0, 1, 1).io(9_999, 1, 1);
        for (int i = 0; i < 200; i++) {
            boolean imports = i < 80, ends = i >= 160;
            fixture.on(100, 100, "python3").sample(i * 50 + 20, ends ? "gc_collect_main (python3)"
                    : imports ? "<module> (/me/infer.py:1);_find_and_load (<frozen importlib._bootstrap>:1165)"
                            : "<module> (/me/infer.py:30);answer (/me/infer.py:9)");
            if ((imports || ends) && i % 5 == 0) {
                fixture.event("gc", "automatic", i * 50, 100.0, "generation = 2");
            }
        }
        assertThat(run("collector_pauses", fixture)).isEmpty();
    }

    @Test
    void waitsForPythonsLockWhileItsCollectorRunsAreNoQueue() {
        RecordingFixture fixture = inLine("get (/me/cache.py:12)", 4096, 900)
                .footer("zernel.stacks", "{\"pythons\":[{\"file\":\"python3\",\"runtimes\":[{\"address\":4000,\"bytes\":97}]}]}")
                .on(100, 101, "server").event("gc", "automatic", 0, 620.0, "generation = 2");
        assertThat(run("lock_contention", fixture)).isEmpty();
    }

    /// Two seconds in which the program has no CPU for 20 of 50 ms, and the one who has it.
    private static RecordingFixture withoutCpu(String holder) {
        RecordingFixture fixture = recording()
                .footer("zernel.recording", "{\"cpus\":2,\"recorder_pid\":77}")
                .io(0, 1, 1)
                .io(1_999, 1, 1);
        for (int i = 0; i < 40; i++) {
            fixture.sample(i * 50 + 5, "<module> (/me/infer.py:30);answer (/me/infer.py:9)")
                    .event("sched", "off-cpu", i * 50 + 10, 20.0, "state = 'preempted', runq_ns = 20000000, " + holder);
        }
        return fixture;
    }

    @Test
    void noFreeCpuFiresForOtherProgramsThatHaveTheCpus() {
        Finding finding = run("no_free_cpu", withoutCpu("other_pid = 900, other_comm = 'backup'")).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(40.0);
        assertThat(finding.unit()).isEqualTo("% of the time of the thread that computes");
        assertThat(finding.evidence()).startsWith("0.80 s of 2.00 s ready without a CPU, in 40 waits, 20.0 ms the longest; "
                + "others on this machine had it 100 % of that time, most backup (pid 900)");
        assertThat(finding.advice()).startsWith("keep the CPUs free of other programs");
    }

    @Test
    void threadsThatTakeTurnsBecauseOfOthersAreNotTheProgramsOwnDoing() {
        RecordingFixture fixture = withoutCpu("other_pid = 900, other_comm = 'backup'");
        for (int i = 0; i < 40; i++) {
            fixture.event("sched", "off-cpu", i * 50 + 31, 19.0,
                    "state = 'preempted', runq_ns = 19000000, other_pid = 100, other_comm = 'python3'");
        }
        Finding finding = run("no_free_cpu", fixture).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence()).contains("others on this machine had it 51 % of that time",
                "other threads of its process 49 % (without the others there are CPUs enough for them)");
        assertThat(finding.advice()).startsWith("keep the CPUs free of other programs");
    }

    @Test
    void noFreeCpuFiresForALimitThatIsUsedUp() {
        RecordingFixture fixture = withoutCpu("other_pid = NULL")
                .on(200, 200, "backup").event("sched", "off-cpu", 5, 2.0, "state = 'preempted', runq_ns = 100, other_pid = 100")
                .on(100, 100, "python3");
        for (int second = 0; second <= 2; second++) {
            double at = 1000.0 * second;
            fixture.processSample(100, "cpu_quota", "/job", at, 600)
                    .hostSample("cgroup_periods", "/job", at, 10L * second)
                    .hostSample("cgroup_throttled", "/job", at, 9L * second);
        }
        Finding finding = run("no_free_cpu", fixture).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence()).contains("the CPU limit of 0.60 CPUs was used up in 90 % of its periods; nobody 100 %");
        assertThat(finding.advice()).startsWith("raise the CPU limit of its container or cgroup");
    }

    @Test
    void ofRecordingsThatDoNotSayWhoHadACpuItIsNotSaidThatNobodyHadIt() {
        Finding finding = run("no_free_cpu", withoutCpu("other_pid = NULL")).getFirst();
        assertThat(finding.evidence())
                .isEqualTo("0.80 s of 2.00 s ready without a CPU, in 40 waits, 20.0 ms the longest; it may run on 2 of 2 CPUs");
        assertThat(finding.advice()).startsWith("record again");
    }

    @Test
    void noFreeCpuFiresWithLowSeverityForThreadsOfItsOwn() {
        Finding finding = run("no_free_cpu", withoutCpu("other_pid = 100, other_comm = 'pool'")).getFirst();
        assertThat(finding.severity()).isEqualTo("low");
        assertThat(finding.advice()).startsWith("compute in no more threads than there are CPUs");
    }

    /// Threads of onnxruntime, OpenMP or BLAS: one computation is split over too many of them.
    @Test
    void aPoolOfMoreThanTwoThreadsForEachCpuIsSevere() {
        Finding finding = run("no_free_cpu", crowded(4, "onnxruntime_pybind11_state.so")).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.evidence()).contains("other threads of its process 100 %, of a pool: 5 are short of CPUs, "
                + "and most of what they run is no Python code; it may run on 2 of 2 CPUs");
        assertThat(finding.advice()).startsWith("compute in no more threads than there are CPUs");
        assertThat(run("no_free_cpu", crowded(4, "work (/me/infer.py:12)")).getFirst().severity()).isEqualTo("low");
        assertThat(run("no_free_cpu", crowded(3, "onnxruntime_pybind11_state.so")).getFirst().severity()).isEqualTo("low");
    }

    /// Threads of its own have the CPUs while the one that computes waits, and wait themselves.
    private static RecordingFixture crowded(int threads, String stack) {
        RecordingFixture fixture = withoutCpu("other_pid = 100, other_comm = 'pool'");
        for (int i = 0; i < 40; i++) {
            for (int tid = 101; tid <= 100 + threads; tid++) {
                fixture.on(100, tid, "pool").sample(i * 50 + tid % 10, stack)
                        .event("sched", "off-cpu", i * 50 + 10, 20.0, "state = 'preempted', runq_ns = 20000000, other_pid = 100");
            }
        }
        return fixture;
    }

    @Test
    void noFreeCpuIsSilentWhereTheRecorderHadIt() {
        assertThat(run("no_free_cpu", withoutCpu("other_pid = 77, other_comm = 'zernel-drain'"))).isEmpty();
    }

    private static final String ANSWER = "<module> (/me/infer.py:30);answer (/me/infer.py:9);"
            + "Linear.forward (/v/site-packages/torch/nn/modules/linear.py:1)";
    private static final String DROPOUT = "<module> (/me/infer.py:30);answer (/me/infer.py:9);"
            + "Dropout.forward (/v/site-packages/torch/nn/modules/dropout.py:1)";

    /// A hundred samples of a program that answers requests, of which every second is in the one stack.
    private static RecordingFixture answering(String one, String other) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 20, i % 2 == 0 ? one : other);
        }
        return fixture;
    }

    @Test
    void slowArithmeticFiresForAModelInHalfOrDoublePrecision() {
        String half = ANSWER + ";at::native::AVX2::bf16_dot_with_fp32_arith (libtorch_cpu.so)";
        Finding finding = run("slow_arithmetic", answering(half, ANSWER)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.evidence()).isEqualTo("2.00 s on a CPU of the thread that computes; at least 50 % of 100 samples "
                + "compute in half precision (float16 or bfloat16)");
        assertThat(finding.advice()).startsWith("float32 on a CPU");
        assertThat(finding.lines().getFirst().place()).isEqualTo("infer.py:9 answer -> Linear.forward");
        String twice = ANSWER + ";mkl_blas_def_dgemm_kernel_zen (libtorch_cpu.so)";
        assertThat(run("slow_arithmetic", answering(twice, ANSWER)).getFirst().advice()).startsWith("float32, where its precision does");
    }

    @Test
    void slowArithmeticIsSilentForAModelInSinglePrecisionAndForNumPy() {
        assertThat(run("slow_arithmetic", answering("<module> (/me/fit.py:30);dgemm_kernel_ZEN (libscipy_openblas64_.so)", ANSWER))).isEmpty();
        assertThat(run("slow_arithmetic", answering(ANSWER + ";mkl_blas_def_sgemm_kernel_zen (libtorch_cpu.so)", ANSWER))).isEmpty();
    }

    private static final String PICKLES = "Thread.run (/usr/lib/python3.12/threading.py:1);Queue._feed (/v/site-packages/joblib/externals/loky/backend/queues.py:1);"
            + "dumps (/v/site-packages/joblib/externals/loky/backend/reduction.py:9)";

    @Test
    void ipcBoundFiresForObjectsThatAreHandedToAPoolOfProcesses() {
        RecordingFixture fixture = answering(PICKLES, PICKLES).on(100, 101, "python3").blocked("wait", "futex", 0, 1500, "<module> (/me/score.py:27);"
                + "Parallel.__call__ (/v/site-packages/joblib/parallel.py:1)", "object = 'futex'", "addr = 64");
        Finding finding = run("ipc_bound", fixture).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(100.0);
        assertThat(finding.evidence()).isEqualTo("2.00 s of 2.00 s on a CPU, by 100 of 100 samples, pickle, send or receive objects of other processes");
        assertThat(finding.lines()).extracting(FindingLine::text).containsExactly(
                "100 % of the waits: score.py:27 <module> -> Parallel.__call__", "100 % of that time in libraries: reduction.py:9 dumps");
    }

    /// What a worker of a pool computes is below the pool's own functions.
    @Test
    void ipcBoundIsSilentForWhatAWorkerOfAPoolComputes() {
        String worker = "worker (/usr/lib/python3.12/multiprocessing/pool.py:1);value (/me/score.py:3)";
        assertThat(run("ipc_bound", answering(worker, worker))).isEmpty();
    }

    @Test
    void trainingModeFiresForDropoutInAProgramThatTrainsNothing() {
        Finding finding = run("training_mode", inTrainingMode("attached")).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.evidence()).startsWith("1.00 s of 2.00 s on a CPU in dropout, which draws random numbers in 50 of 100 samples; ");
        assertThat(finding.advice()).startsWith("model.eval() once it is loaded");
        assertThat(finding.lines().getFirst().place()).isEqualTo("infer.py:9 answer -> Dropout.forward");
    }

    private static RecordingFixture inTrainingMode(String backward) {
        return probing(backward, answering(DROPOUT + ";at::CPUGeneratorImpl::random64 (libtorch_cpu.so)", ANSWER));
    }

    private static RecordingFixture probing(String backward, RecordingFixture fixture) {
        return fixture.footer("zernel.kinds", "[{\"kind\":\"backward\",\"state\":\"" + backward + "\",\"why\":null,\"events\":0}]");
    }

    /// In evaluation mode it only hands its input on.
    @Test
    void trainingModeIsSilentForDropoutThatDrawsNothing() {
        assertThat(run("training_mode", probing("attached", answering(DROPOUT, ANSWER)))).isEmpty();
    }

    @Test
    void trainingModeIsSilentWherePassesGoBackwardAndWhereNobodyLookedForThem() {
        assertThat(run("training_mode", inTrainingMode("attached").backward(500, 100))).isEmpty();
        assertThat(run("training_mode", inTrainingMode("unavailable"))).isEmpty();
    }

    private static final String LOAD = "<module> (/me/infer.py:30);answer (/me/infer.py:7);load (/v/site-packages/torch/serialization.py:1)";
    private static final String BUILD =
            "<module> (/me/infer.py:3);Net.__init__ (/me/net.py:4);Linear.__init__ (/v/site-packages/torch/nn/modules/linear.py:1)";

    @Test
    void loadsAgainFiresForAModelThatIsLoadedForEachRequest() {
        Finding finding = run("loads_again", answering(LOAD, ANSWER)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.evidence()).isEqualTo("1.00 s of 2.00 s on a CPU where models, tokenizers or data are made or loaded, in 5 of 5 fifths "
                + "of that time; samples went from other work to that 49 times");
        assertThat(finding.advice()).startsWith("make and load it once");
        assertThat(finding.lines().getFirst().place()).isEqualTo("infer.py:7 answer -> load");
        assertThat(run("loads_again", answering(BUILD, ANSWER)).getFirst().value()).isEqualTo(50.0);
        String other = "<module> (/me/infer.py:30);load (/usr/lib/python3.11/json/__init__.py:293)";
        assertThat(run("loads_again", answering(LOAD, other)).getFirst().value()).isEqualTo(50.0);
    }

    /// However long that takes, and however much of it is in constructors of the program's own.
    @Test
    void loadsAgainIsSilentForAModelThatIsLoadedOnce() {
        RecordingFixture once = recording();
        for (int i = 0; i < 100; i++) {
            once.sample(i * 20, i < 90 ? LOAD : ANSWER);
        }
        assertThat(run("loads_again", once)).isEmpty();
        assertThat(run("loads_again", answering(BUILD, "<module> (/me/infer.py:3);Net.__init__ (/me/net.py:5)"))).isEmpty();
    }

    /// Several models, each when it is first asked for.
    @Test
    void loadsAgainIsSilentForLoadsInAPartOfTheTime() {
        RecordingFixture first = recording();
        for (int i = 0; i < 100; i++) {
            first.sample(i * 20, i < 60 && i % 2 == 0 ? LOAD : ANSWER);
        }
        assertThat(run("loads_again", first)).isEmpty();
    }

    @Test
    void loadsAgainFiresForATokenizer() {
        String tokenizer = "<module> (/me/serve.py:9);load (/me/serve.py:5);"
                + "TokenizersBackend.__init__ (/v/site-packages/transformers/tokenization_utils_tokenizers.py:1)";
        assertThat(run("loads_again", answering(tokenizer, ANSWER)).getFirst().lines().getFirst().place())
                .isEqualTo("serve.py:5 load -> TokenizersBackend.__init__");
        assertThat(run("loads_again", answering(tokenizer.replace("__init__", "encode"), ANSWER))).isEmpty();
    }

    /// A new matrix is binned where it is used, so that the call that makes it is no large part of it; one for all rounds is binned once.
    @Test
    void loadsAgainFiresForDataThatXGBoostBinsInEachRound() {
        String update = "<module> (/me/boost.py:30);round (/me/boost.py:18);Booster.update (/v/site-packages/xgboost/core.py:1);";
        String binning = update + "xgboost::common::WQSummary<float>::SetCombine (libxgboost.so)";
        String trees = update + "xgboost::common::BuildHist(xgboost::GHistIndexMatrix const&) (libxgboost.so)";
        Finding finding = run("loads_again", answering(binning, trees)).getFirst();
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.lines().getFirst().place()).isEqualTo("boost.py:18 round -> Booster.update");
        RecordingFixture once = recording();
        for (int i = 0; i < 100; i++) {
            once.sample(i * 20, i < 40 ? binning : trees);
        }
        assertThat(run("loads_again", once)).isEmpty();
    }

    private static final String FETCH = "<module> (/me/embed.py:9);fetch (/me/embed.py:18);";
    private static final String REQUEST =
            FETCH + "Session.get (/v/site-packages/requests/sessions.py:1);readinto (/usr/lib/python3.12/socket.py:1);poll (libc.so.6)";

    /// A program that waits for 10 of each 20 ms in such a call.
    private static RecordingFixture asking(String stack, int waits) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 20, ANSWER);
            if (i < waits) {
                fixture.blocked("wait", "poll", i * 20 + 5, 10, stack, "object = 'socket:[7] tcp'");
            }
        }
        return fixture;
    }

    @Test
    void serialRequestsFiresForAProgramThatAsksOneAfterTheOther() {
        Finding finding = run("serial_requests", asking(REQUEST, 100)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.maxSpeedup()).isEqualTo(2.0);
        assertThat(finding.evidence()).isEqualTo("1.00 s of 2.00 s in 100 waits for replies, 10.0 ms each, 0.5 at once; with what it does "
                + "on a CPU, such calls take 1.00 s: 2.00 / (2.00 - 1.00) = 2.00x");
        assertThat(finding.lines().getFirst().place()).isEqualTo("embed.py:18 fetch -> Session.get");
        RecordingFixture nothingElse = recording();
        for (int i = 0; i < 30; i++) {
            nothingElse.blocked("wait", "poll", i * 200, 180, REQUEST, "object = 'socket:[7] tcp'").sample(i * 200 + 180, REQUEST);
        }
        Finding all = run("serial_requests", nothingElse).getFirst();
        assertThat(all.maxSpeedup()).isNull();
        assertThat(all.evidence()).endsWith("; it does next to nothing else");
        String pure = FETCH + "HTTPResponse.begin (/usr/lib/python3.12/http/client.py:1);readinto (/usr/lib/python3.12/socket.py:1)";
        assertThat(run("serial_requests", asking(pure, 100))).hasSize(1);
    }

    /// What keeps connections does not make a server answer sooner.
    @Test
    void serialRequestsDoesNotAdviseAFasterCallForTheTimeInWhichTheServerAnswers() {
        String opened = FETCH + "urlopen (/usr/lib/python3.12/urllib/request.py:1);HTTPResponse.begin (/usr/lib/python3.12/http/client.py:1);recv (libc.so.6)";
        Finding finding = run("serial_requests", asking(opened, 100)).getFirst();
        assertThat(finding.advice()).startsWith("ask for several at once: ");
        RecordingFixture computing = recording();
        for (int i = 0; i < 100; i++) {
            computing.sample(i * 20 + 1, opened);
        }
        assertThat(run("slow_calls", computing).getFirst().lines().getFirst().faster()).startsWith("one requests.Session");
    }

    /// A load generator is not what is slow.
    @Test
    void serialRequestsIsOfMediumSeverityBesideAServer() {
        RecordingFixture fixture = asking(REQUEST, 100).on(200, 200, "python3");
        for (int i = 0; i < 20; i++) {
            fixture.sample(i * 100 + 1, "<module> (/me/server.py:3);run (/v/site-packages/uvicorn/main.py:1)");
        }
        assertThat(run("serial_requests", fixture).getFirst().severity()).isEqualTo("medium");
        RecordingFixture generator = recording();
        for (int i = 0; i < 30; i++) {
            generator.on(100, 100, "python3").blocked("wait", "poll", i * 200, 180, REQUEST, "object = 'socket:[7] tcp'").sample(i * 200 + 180, REQUEST)
                    .on(200, 200, "python3");
            for (int sample = 0; sample < 6; sample++) {
                generator.sample(i * 200 + 1 + sample * 30, "<module> (/me/server.py:3);run (/v/site-packages/uvicorn/main.py:1)");
            }
        }
        assertThat(run("serial_requests", generator).getFirst().severity()).isEqualTo("low");
    }

    @Test
    void serialRequestsIsSilentForServersQueuesSeveralAtOnceAndFew() {
        String served = "<module> (/me/serve.py:9);run (/v/site-packages/uvicorn/main.py:1);" + REQUEST.substring("<module> (/me/embed.py:9);".length());
        assertThat(run("serial_requests", asking(served, 100))).isEmpty();
        String queue = FETCH + "Redis.blpop (/v/site-packages/redis/client.py:1);recv (libc.so.6)";
        assertThat(run("serial_requests", asking(queue, 100))).isEmpty();
        assertThat(run("serial_requests", asking(queue.replace("blpop", "get"), 100))).hasSize(1);
        assertThat(run("serial_requests", asking(FETCH + "recv (libc.so.6)", 100))).isEmpty();
        assertThat(run("serial_requests", asking(REQUEST, 19))).isEmpty();
        RecordingFixture several = asking(REQUEST, 100);
        for (int tid = 101; tid <= 104; tid++) {
            several.on(100, tid, "python3");
            for (int i = 0; i < 100; i++) {
                several.blocked("wait", "poll", i * 20 + 5, 10, REQUEST, "object = 'socket:[7] tcp'");
            }
        }
        assertThat(run("serial_requests", several)).isEmpty();
    }

    private static final String GENERATE = "<module> (/me/write.py:14);GenerationMixin.generate (/v/site-packages/transformers/generation/utils.py:1);"
            + "GenerationMixin._sample (/v/site-packages/transformers/generation/utils.py:2);";
    private static final String FORWARD = "GPT2Model.forward (/v/site-packages/transformers/models/gpt2/modeling_gpt2.py:1)";
    private static final String PREFILL = GENERATE + "GenerationMixin._prefill (/v/site-packages/transformers/generation/utils.py:3);" + FORWARD;

    private static RecordingFixture generating(int samples, String prompt, String other) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < samples; i++) {
            fixture.sample(i * 20, i % 50 == 0 ? prompt : i % 50 == 1 ? other : GENERATE + FORWARD);
        }
        return fixture;
    }

    @Test
    void uncachedGenerationFiresForPassesOfWhichNoneKeepsKeysAndValues() {
        Finding finding = run("uncached_generation", generating(400, PREFILL, ANSWER)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(96.0);
        assertThat(finding.evidence()).isEqualTo("7.68 s of 8.00 s on a CPU in passes of the model after the one for the prompt; of 384 samples "
                + "there, none is where keys and values are kept");
        assertThat(finding.lines().getFirst().place()).startsWith("write.py:14 <module> -> GenerationMixin.generate");
    }

    /// The prompt's pass alone tells that there are others after it.
    @Test
    void uncachedGenerationIsSilentForACachePromptsOnlyAndFewSamples() {
        String cached = GENERATE + FORWARD + ";DynamicCache.update (/v/site-packages/transformers/cache_utils.py:1)";
        assertThat(run("uncached_generation", generating(400, PREFILL, cached))).isEmpty();
        assertThat(run("uncached_generation", generating(400, ANSWER, ANSWER))).isEmpty();
        assertThat(run("uncached_generation", generating(300, PREFILL, ANSWER))).isEmpty();
    }

    private static final String ROWS = "<module> (/me/prepare.py:9);rows (/me/prepare.py:5);"
            + "DataFrame.iterrows (/v/site-packages/pandas/core/frame.py:1);Series.__init__ (/v/site-packages/pandas/core/series.py:2)";

    @Test
    void slowCallsFiresForACallThatHasAFasterWay() {
        Finding finding = run("slow_calls", answering(ROWS, ANSWER)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.unit()).isEqualTo("% of its time on a CPU in DataFrame.iterrows");
        assertThat(finding.evidence()).isEqualTo("1.00 s of 2.00 s of the threads that compute most on a CPU are in DataFrame.iterrows (50 samples)");
        assertThat(finding.lines().getFirst().text()).isEqualTo("100 % of that time: prepare.py:5 rows -> DataFrame.iterrows; "
                + "faster: whole columns at once, or itertuples(): it makes a Series of each row");
    }

    private static final String FETCH_ITEM = "<module> (/me/embed.py:9);_MapDatasetFetcher.fetch.<locals>.<listcomp> "
            + "(/v/site-packages/torch/utils/data/_utils/fetch.py:54)";

    @Test
    void slowCallsFiresForItemsThatAreTakenFromTensorsOneByOne() {
        String item = FETCH_ITEM + ";TensorDataset.__getitem__ (/v/site-packages/torch/utils/data/dataset.py:206)";
        Finding finding = run("slow_calls", answering(item, ANSWER)).getFirst();
        assertThat(finding.unit()).isEqualTo("% of its time on a CPU in loading item by item");
        assertThat(finding.lines().getFirst().faster()).startsWith("where items are rows in memory, those of a batch at once: ");
        assertThat(run("slow_calls", training(2, item))).isEmpty();
    }

    /// Copying what an item holds is not what surrounds it.
    @Test
    void slowCallsIsSilentForLargeItemsThatAreCopied() {
        String copied = FETCH_ITEM + ";collate_tensor_fn (/v/site-packages/torch/utils/data/_utils/collate.py:275);__memmove_avx512_unaligned_erms (libc.so.6)";
        assertThat(run("slow_calls", answering(copied, ANSWER))).isEmpty();
    }

    /// What an item is computed from in Python, a batch of them would be, too.
    @Test
    void slowCallsFiresForItemsOfTheProgramsOwnOnlyWhereTheyBecomeTensors() {
        String python = FETCH_ITEM + ";Texts.__getitem__ (/me/embed.py:4)";
        assertThat(run("slow_calls", answering(python, ANSWER))).isEmpty();
        RecordingFixture fixture = answering(python, ANSWER);
        for (int i = 0; i < 20; i++) {
            fixture.sample(2010 + i * 20, python + ";at::_ops::select_int::call (libtorch_cpu.so)");
        }
        for (int i = 0; i < 20; i++) {
            fixture.sample(3010 + i * 20, python.replace(":4)", ":5)"));
        }
        Finding finding = run("slow_calls", fixture).getFirst();
        assertThat(finding.unit()).endsWith(" in loading item by item");
        // Lines of one method with the same way count together.
        assertThat(finding.lines()).singleElement().extracting(FindingLine::place).isEqualTo("embed.py:4 Texts.__getitem__ (lines 4 to 5)");
        assertThat(finding.lines().getFirst().textBelow(finding.lines().getFirst())).endsWith("; faster: as above");
    }

    /// A table is put together once, at the end, or again and again.
    @Test
    void slowCallsIsSilentForASingleCallOfWhatIsSlowInALoop() {
        String concat = "<module> (/me/prepare.py:9);concat (/v/site-packages/pandas/core/reshape/concat.py:1)";
        RecordingFixture once = recording();
        for (int i = 0; i < 100; i++) {
            once.sample(i * 20, i < 70 ? ANSWER : concat);
        }
        assertThat(run("slow_calls", once)).isEmpty();
        Finding finding = run("slow_calls", answering(concat, ANSWER)).getFirst();
        assertThat(finding.unit()).endsWith(" in pandas.concat");
        assertThat(finding.lines().getFirst().faster()).startsWith("where it is in a loop, collect the parts in a list");
    }

    /// A server makes of a result what its function chose; what a framework does else is not the program's to change.
    @Test
    void slowCallsFiresForResultsOfWhichAServerMakesJson() {
        String handle = "<module> (/me/serve.py:70);run (/v/site-packages/uvicorn/main.py:1);APIRoute.handle (/v/site-packages/fastapi/routing.py:1);";
        String render = handle + "JSONResponse.render (/v/site-packages/starlette/responses.py:1);JSONEncoder.iterencode (/usr/lib/python3.12/json/encoder.py:1)";
        Finding finding = run("slow_calls", answering(render, handle + "embed (/me/serve.py:31)")).getFirst();
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.unit()).endsWith(" in results as JSON");
        String logged = handle + "log (/v/site-packages/structlog/dev.py:1);JSONEncoder.iterencode (/usr/lib/python3.12/json/encoder.py:1)";
        assertThat(run("slow_calls", answering(logged, ANSWER))).isEmpty();
    }

    /// Of the ways that JSON is written, the one that goes through all values in Python is told first.
    @Test
    void slowCallsTellsTheWayThatACallWorks() {
        String dump = "<module> (/me/prepare.py:9);dump (/usr/lib/python3.12/json/__init__.py:1);"
                + "_make_iterencode.<locals>._iterencode (/usr/lib/python3.12/json/encoder.py:1)";
        assertThat(run("slow_calls", answering(dump, ANSWER)).getFirst().unit()).endsWith(" in json's encoder in Python");
        String dumps = "<module> (/me/prepare.py:9);dumps (/usr/lib/python3.12/json/__init__.py:1);"
                + "JSONEncoder.iterencode (/usr/lib/python3.12/json/encoder.py:1)";
        assertThat(run("slow_calls", answering(dumps, ANSWER)).getFirst().unit()).endsWith(" in json.dumps");
    }

    /// Steps of 100 ms with five samples, of which the first ones are in such a call.
    private static RecordingFixture training(int inCall, String call) {
        RecordingFixture fixture = recording().training(20, 5);
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 10 + 1, i % 5 < inCall ? call : ANSWER);
        }
        return fixture;
    }

    @Test
    void slowCallsFiresForATrainingInWhoseStepsTheyAre() {
        String copy = "<module> (/me/train.py:9);deepcopy (/usr/lib/python3.12/copy.py:1)";
        Finding finding = run("slow_calls", training(2, copy)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.unit()).isEqualTo("% of its time on a CPU in steps in copy.deepcopy");
        assertThat(finding.lines().getFirst().text()).startsWith("100 % of that time in steps: train.py:9 <module> -> deepcopy; faster: copy only what changes");
        assertThat(run("slow_calls", training(0, copy))).isEmpty();
    }

    /// Native code is told while it computes itself; what the same line does in the C library or the kernel is its, and nothing else.
    @Test
    void slowCallsFiresForQueriesOfSQLite() {
        String line = "<module> (/me/features.py:9);history (/me/store.py:25)";
        for (String native_ : List.of("sqlite3VdbeExec (libsqlite3.so.0.8.6)", "[_sqlite3.cpython-312.so]", "sqlite3BtreeNext (libpython3.12.so.1.0)")) {
            Finding finding = run("slow_calls", answering(line + ";" + native_, line + ";__pread64 (libc.so.6)")).getFirst();
            assertThat(finding.value()).isEqualTo(100.0);
            assertThat(finding.unit()).isEqualTo("% of its time on a CPU in SQLite");
            assertThat(finding.lines().getFirst().faster()).startsWith("an index on what WHERE and JOIN compare: ");
            assertThat(run("slow_calls", answering(line + ";" + native_, line + ";dgemm (libopenblas.so.0)")).getFirst().value()).isEqualTo(50.0);
        }
        assertThat(run("slow_calls", answering(line + ";__pread64 (libc.so.6)", line))).isEmpty();
        String imported = line + ";_find_and_load (<frozen importlib._bootstrap>:1);<module> (/me/store.py:1);sqlite3VdbeExec (libsqlite3.so.0.8.6)";
        assertThat(run("slow_calls", answering(imported, ANSWER))).isEmpty();
    }

    /// A function that is given one row at a time, which only the library's own part tells.
    @Test
    void slowCallsFiresForADatasetThatIsMappedRowByRow() {
        String map = "<module> (/me/prepare.py:48);Dataset.map (/v/site-packages/datasets/arrow_dataset.py:1);";
        String encode = map + "Dataset._map_single (/v/site-packages/datasets/arrow_dataset.py:2);encode (/me/prepare.py:36)";
        String row = encode + ";LazyDict.__getitem__ (/v/site-packages/datasets/formatting/formatting.py:1);";
        String format = "LazyRow.format (/v/site-packages/datasets/formatting/formatting.py:2)";
        Finding finding = run("slow_calls", answering(row + format, encode)).getFirst();
        assertThat(finding.unit()).isEqualTo("% of its time on a CPU in rows of datasets, one by one");
        assertThat(finding.lines().getFirst().faster()).startsWith("Dataset.map(..., batched=True)");
        assertThat(run("slow_calls", answering(row + format.replace("LazyRow", "LazyBatch"), encode))).isEmpty();
    }

    /// What the library does for each row counts, also where that is in a function of the program; what that computes does not.
    @Test
    void slowCallsFiresForFunctionsThatALibraryCallsForEachRow() {
        String row = "<module> (/me/prepare.py:9);DataFrame.apply (/v/site-packages/pandas/core/frame.py:1);"
                + "FrameApply.apply_series_generator (/v/site-packages/pandas/core/apply.py:1);of_row (/me/prepare.py:5)";
        String series = row + ";Series.__init__ (/v/site-packages/pandas/core/series.py:1)";
        Finding finding = run("slow_calls", answering(series, ANSWER)).getFirst();
        assertThat(finding.unit()).isEqualTo("% of its time on a CPU in apply(axis=1)");
        assertThat(finding.lines().getFirst().place()).isEqualTo("prepare.py:5 of_row -> Series.__init__");
        assertThat(run("slow_calls", answering(row, ANSWER))).isEmpty();
    }

    /// What a framework does inside is not the program's to change, nor is a function of its own by that name a library's.
    @Test
    void slowCallsIsSilentForWhatFrameworksCallAndForLittle() {
        String inside = "<module> (/me/prepare.py:9);Trainer.fit (/v/site-packages/lightning/trainer.py:1);"
                + "deepcopy (/usr/lib/python3.12/copy.py:1)";
        assertThat(run("slow_calls", answering(inside, ANSWER))).isEmpty();
        assertThat(run("slow_calls", answering("<module> (/me/prepare.py:9);deepcopy (/me/copy.py:1)", ANSWER))).isEmpty();
        RecordingFixture few = recording();
        for (int i = 0; i < 400; i++) {
            few.sample(i * 20, i % 11 == 0 ? ROWS : ANSWER);
        }
        assertThat(run("slow_calls", few)).isEmpty();
    }

    /// A program that writes a row each 20 ms, which takes so long.
    private static RecordingFixture writing(String name, double millis, String path) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 20, ANSWER).blocked("io", name, i * 20 + 5, millis, "<module> (/me/infer.py:31);fsync (libc.so.6)",
                    "path = '" + path + "'");
        }
        return fixture;
    }

    @Test
    void syncedWritesFiresForAProgramThatSyncsEachRow() {
        Finding finding = run("synced_writes", writing("fdatasync", 10, "/data/out.db")).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(50.0);
        assertThat(finding.evidence())
                .isEqualTo("1.00 s of 2.00 s in 100 calls that write 0 B; 100 syncs took 100 % of that; the longest on /data/out.db");
        assertThat(finding.advice()).startsWith("sync once for many");
        assertThat(finding.lines().getFirst().place()).isEqualTo("infer.py:31 <module> -> fsync");
        assertThat(run("synced_writes", writing("write", 10, "/data/out.db")).getFirst().advice()).startsWith("write many at once");
    }

    @Test
    void syncedWritesIsSilentForShortWritesReadsAndPipes() {
        assertThat(run("synced_writes", writing("fdatasync", 1, "/data/out.db"))).isEmpty();
        assertThat(run("synced_writes", writing("read", 10, "/data/in.db"))).isEmpty();
        assertThat(run("synced_writes", writing("write", 10, "pipe:[7]"))).isEmpty();
    }

    @Test
    void compilesAgainFiresForACompilerThatNeverRests() {
        Finding finding = run("compiles_again", compiling(100)).getFirst();
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(70.0);
        assertThat(finding.evidence())
                .isEqualTo("thread 100: 3.50 s of 5.00 s, the second half of its time, in the compiler of JAX");
        assertThat(finding.advice()).startsWith("pad inputs to few shapes");
        assertThat(finding.lines().getFirst().place()).isEqualTo("jaxed.py:15 <module> -> backend_compile");
    }

    @Test
    void compilesAgainFiresForAModelThatIsCompiledInEachStep() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 50; i++) {
            double at = i * 100;
            fixture.sample(at + 10, TORCH).sample(at + 30, TORCH).sample(at + 50, "<module> (/me/train.py:18)")
                    .backward(at + 60, 20).region(RecordingFixture.STEP, at + 90, 10);
        }
        Finding finding = run("compiles_again", fixture).getFirst();
        assertThat(finding.lostMillisPerStep()).isCloseTo(40, within(2.0));
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.advice()).startsWith("torch.compile(dynamic=True)");
        assertThat(finding.lines().getFirst().place()).isEqualTo("train.py:17 <module> -> OptimizedModule.__call__");
    }

    @Test
    void compilesAgainIsSilentForWhatIsCompiledAtTheStart() {
        assertThat(run("compiles_again", compiling(60))).isEmpty();
    }

    @Test
    void compilesAgainFiresForPackagesInAFolderOfTheUsersChoiceAndCountsWhatIsTraced() {
        String jitted = "<module> (/me/jaxed.py:15);cache.<locals>.miss (/me/lib/jax/_src/pjit.py:1);";
        RecordingFixture fixture = recording();
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 100 + 20, jitted + "trace_to_jaxpr (/me/lib/jax/_src/interpreters/partial_eval.py:1);score (/me/jaxed.py:7)")
                    .sample(i * 100 + 40, jitted + "lower_jaxpr_to_module (/me/lib/jax/_src/interpreters/mlir.py:1)")
                    .sample(i * 100 + 60, jitted + "compile_or_get_cached (/me/lib/jax/_src/compiler.py:1)")
                    .sample(i * 100 + 90, "<module> (/me/jaxed.py:16)").event("io", "read", i * 100 + 95, 5.0, "bytes = 1");
        }
        Finding finding = run("compiles_again", fixture).getFirst();
        assertThat(finding.value()).isEqualTo(60.0, within(1.0));
        assertThat(finding.lines().getFirst().place()).isEqualTo("jaxed.py:15 <module> -> compile_or_get_cached");
    }

    /// Ten seconds of rounds of 100 ms: the first so many of them compile for 70 ms.
    private static RecordingFixture compiling(int rounds) {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 100; i++) {
            if (i < rounds) {
                fixture.blocked("wait", "futex", i * 100, 70, COMPILER, "object = 'futex'");
            }
            fixture.sample(i * 100 + 90, "<module> (/me/jaxed.py:16)").event("io", "read", i * 100 + 95, 5.0, "bytes = 1");
        }
        return fixture;
    }

    private List<Finding> run(String finding, RecordingFixture fixture) {
        return fixture.findings(finding, folder);
    }
}
