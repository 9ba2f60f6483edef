package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.text.FindingsText;
import io.dyber.zernel.analyze.sql.LineRule;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which lines of the job's code findings name.
class FindingLinesTest {
    private static final String SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    private static final String MAIN = "<module> (/me/train.py:120);main (/me/train.py:80);";
    private static final String ITEM = MAIN + "log_loss (/me/train.py:88);THPVariable_item (libtorch_python.so)";

    @TempDir
    Path folder;

    @Test
    void syncBoundNamesTheLinesThatWait() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            fixture.region(NEXT, at, 1).launch("gemm", at + 2, 0.01)
                    .blocked("cuda_sync", "cudaStreamSynchronize", at + 3, 10, ITEM, "status = 0", "depth = 0")
                    .blocked("wait", "futex", at + 4, 5, ITEM) // part of it
                    .launch("gemm", at + 18.5, 0.01)
                    .blocked("cuda_sync", "cudaStreamSynchronize", at + 20, 5, MAIN + "norm (/me/net.py:7)", "status = 0", "depth = 0")
                    .launch("gemm", at + 28, 0.01).region(STEP, at + 45, 5);
        }
        assertThat(lines("sync_bound", fixture)).containsExactly(
                "67 % of the waits for the GPU: train.py:88 log_loss -> Tensor.item",
                "33 % of the waits for the GPU: net.py:7 norm -> cudaStreamSynchronize");
        FindingLine line = fixture.finding("sync_bound", folder).lines().getFirst();
        assertThat(line.amount()).isEqualTo(100e6);
        assertThat(line.count()).isEqualTo(10);
    }

    @Test
    void gilContentionNamesWhatTheThreadRunsThatHoldsIt() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3");
            for (int wait = 0; wait < 6; wait++) {
                blocked(fixture, "futex", at + 61 + wait * 6, 5, MAIN + "train (/me/train.py:9)", "addr = 64, status = -110", "NULL");
            }
            fixture.on(100, 301, "logger").sample(at + 63, "run (/me/log.py:4);dump (/me/log.py:5);dumps (/usr/lib/python3.12/json/__init__.py:9)")
                    .sample(at + 30, "run (/me/log.py:4);idle (/me/log.py:30)") // nobody waits
                    .on(100, 302, "omp").sample(at + 64, "gomp_thread_start (libgomp.so.1)"); // needs no lock
        }
        assertThat(lines("gil_contention", fixture))
                .containsExactly("100 % of the time in which it is held: log.py:5 dump -> dumps");
    }

    @Test
    void blockedOnThreadNamesTheLineThatWaitsAndTheOneThatIsWaitedFor() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3");
            blocked(fixture, "futex", at + 65, 20, MAIN + "fetch (/me/train.py:50);get (/usr/lib/python3.12/queue.py:171)", "addr = 64, status = 0", "301");
            fixture.on(100, 301, "producer").sample(at + 70, "produce (/me/feed.py:12)").sample(at + 30, "sleep (/me/feed.py:13)")
                    // it began before the wait, and lets go at its end
                    .blocked("wait", "clock_nanosleep", at + 41, 40, "linger (/me/feed.py:14)")
                    .on(100, 302, "another").sample(at + 71, "other (/me/other.py:1)");
        }
        assertThat(lines("blocked_on_thread", fixture)).containsExactly(
                "100 % of the waits: train.py:50 fetch -> get",
                "100 % of what the other thread does meanwhile: feed.py:14 linger -> clock_nanosleep");
    }

    /// A loop of Python: where in it a sample falls says nothing.
    @Test
    void linesNearEachOtherInAFunctionThatCallNothingAreOne() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3").region(NEXT, at, 60)
                    .sample(at + 10, MAIN + "filterbank (/me/mel.py:17)").sample(at + 30, MAIN + "filterbank (/me/mel.py:19)")
                    .sample(at + 50, MAIN + (i % 2 == 0 ? "filterbank (/me/mel.py:24)" : "filterbank (/me/mel.py:16)"));
        }
        assertThat(lines("data_bound", fixture)).containsExactly(
                "83 % of the loading: mel.py:17 filterbank (lines 16 to 19)", "17 % of the loading: mel.py:24 filterbank");
        FindingLine line = fixture.finding("data_bound", folder).lines().getFirst();
        assertThat(line.amount()).isEqualTo(600e6);
        assertThat(line.count()).isEqualTo(30);
    }

    @Test
    void adviceBeginsWithWhatLinesWithHalfOfTheTimeSayIsFaster() {
        String usual = "the recording does not show the workers; record them too: leave out -p";
        assertThat(loading("indexing").advice())
                .isEqualTo("what its line says is faster, where that does the same; else " + usual);
        assertThat(loading("frame").advice()).isEqualTo(usual);
    }

    private Finding loading(String file) {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3").region(NEXT, at, 60);
            for (int sample = 0; sample < 3; sample++) {
                String read = MAIN + "read (/me/rows.py:" + (4 + 9 * sample) + ")";
                fixture.sample(at + 10 + 20 * sample, sample == 2
                        ? read
                        : read + ";take (/usr/lib/python3.12/site-packages/pandas/core/" + file + ".py:9)");
            }
        }
        return fixture.finding("data_bound", folder);
    }

    /// Of a multiprocessing.Pool: a thread takes results from a pipe, and hands them over.
    @Test
    void blockedOnThreadNamesWhatTheProcessDoesThatTheOtherThreadWaitsFor() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3");
            blocked(fixture, "futex", at + 65, 20, MAIN + "features (/me/train.py:50);map (/usr/lib/python3.12/pool.py:171)",
                    "addr = 64, status = 0", "301");
            fixture.on(100, 301, "python3").event("sched", "off-cpu", at + 66, 18.0, "state = 'sleeping', runq_ns = 0, waker_tid = 400")
                    .on(400, 400, "python3").sample(at + 70, "work (/me/train.py:12)").sample(at + 80, "work (/me/train.py:12)")
                    .blocked("wait", "futex", at + 10, 40, "get (/usr/lib/python3.12/queue.py:3)", "object = 'futex'");
        }
        assertThat(lines("blocked_on_thread", fixture)).containsExactly(
                "100 % of the waits: train.py:50 features -> map", "100 % of what the other process does: train.py:12 work");
    }

    @Test
    void blockedOnProcessNamesTheLineThatWaitsAndWhatTheOtherProcessDoes() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3");
            blocked(fixture, "read", at + 65, 20, MAIN + "fetch (/me/train.py:50)", "object = 'pipe:[7]', status = 0", "400");
            fixture.on(400, 400, "python3").sample(at + 70, "produce (/me/feed.py:12)")
                    .blocked("io", "write", at + 20, 30, "put (/me/feed.py:14)", "object = 'pipe:[7]', status = 0")
                    .on(500, 500, "stranger").sample(at + 71, "other (/me/other.py:1)");
        }
        assertThat(lines("blocked_on_process", fixture)).containsExactly(
                "100 % of the waits: train.py:50 fetch -> read", "100 % of what the other process does: feed.py:12 produce");
    }

    /// It waits for Python's lock in its optimizer, too, which is not what the optimizer takes.
    @Test
    void slowOptimizerNamesNoLineThatWaits() {
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        for (int i = 0; i < 24; i++) {
            double at = i * 50;
            fixture.backward(at + 10, 5).region(STEP, at + 20, 30).sample(at + 40, MAIN + "step (/me/sgd.py:7)");
            blocked(fixture, "futex", at + 22, 5, MAIN + "take (/me/train.py:9)", "addr = 72, status = -110", "NULL");
        }
        assertThat(lines("slow_optimizer", fixture)).containsExactly("100 % of the optimizer: sgd.py:7 step");
    }

    /// Commands that end soon: most of what they do has no stack.
    @Test
    void blockedOnProcessDoesNotSayWhatTheOtherProcessDoesByFewStacks() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            double at = i * 100;
            fixture.on(100, 100, "python3");
            blocked(fixture, "read", at + 65, 30, MAIN + "fetch (/me/train.py:50)", "object = 'pipe:[7]', status = 0", "400");
            if (i == 5) {
                fixture.on(400, 400, "python3").sample(at + 70, "start (/me/feed.py:2)");
            }
            fixture.on(400, 400, "python3").event("io", "write", at + 90, 0.1, "object = 'pipe:[7]'");
        }
        assertThat(lines("blocked_on_process", fixture)).containsExactly("100 % of the waits: train.py:50 fetch -> read");
    }

    @Test
    void asleepNamesTheLineThatSleeps() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            blocked(fixture, "clock_nanosleep", i * 100 + 62, 10, MAIN + "throttle (/me/train.py:61)", "status = 0", "NULL");
        }
        assertThat(lines("asleep", fixture)).containsExactly("100 % of the sleep: train.py:61 throttle -> clock_nanosleep");
    }

    @Test
    void storageWritesNamesTheLinesThatWrite() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.blocked("io", "write", i * 100 + 62, 2, MAIN + "log (/me/log.py:7)", "status = 0", "bytes = 1000", "path = '/log/a'")
                    .blocked("io", "fsync", i * 100 + 65, 6, MAIN + "flush (/me/log.py:8)", "status = 0", "path = '/log/a'")
                    .blocked("io", "read", i * 100 + 75, 9, MAIN + "load (/me/data.py:8)", "status = 0", "path = '/data/a'");
        }
        assertThat(lines("storage_writes", fixture))
                .containsExactly("75 % of the writes: log.py:8 flush -> fsync", "25 % of the writes: log.py:7 log -> write");
    }

    @Test
    void cpuBetweenCallsNamesTheLinesThatRun() {
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        for (int i = 0; i < 12; i++) {
            fixture.region(NEXT, i * 100, 5).region(STEP, i * 100 + 90, 10)
                    .sample(i * 100 + 30, MAIN + "metrics (/me/train.py:70)").sample(i * 100 + 50, MAIN + "metrics (/me/train.py:70)")
                    .sample(i * 100 + 70, MAIN + "augment (/me/train.py:71);at::native::(anonymous namespace)::pool(int) (libtorch_cpu.so)").sample(i * 100 + 95, MAIN + "step (/me/train.py:99)");
        }
        assertThat(lines("cpu_between_calls", fixture))
                .containsExactly("67 % of that work: train.py:70 metrics", "33 % of that work: train.py:71 augment -> at::native::pool");
    }

    /// The line that holds work between calls in these stacks, beside as much time of an optimizer's step in another one.
    private String lineOf(String optimizer, String... work) {
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        for (int i = 0; i < 12; i++) {
            fixture.region(NEXT, i * 100, 5).region(STEP, i * 100 + 60, 40);
            for (int sample = 0; sample < work.length; sample++) {
                fixture.sample(i * 100 + 15 + sample * 20, work[sample]).sample(i * 100 + 65 + sample * 10, optimizer);
            }
        }
        return lines("cpu_between_calls", fixture).getFirst();
    }

    /// `Trainer.fit` is on all stacks, and so says nothing.
    @Test
    void aCallThatDoesMuchElseIsFollowedToTheInnermostOneThatTheTimeIsIn() {
        String fit = "<module> (/me/train.py:9);Trainer.fit (/lib/site-packages/lightning/trainer.py:5);";
        String log = fit + "Callback.log (/lib/site-packages/lightning/callback.py:7);";
        String step = fit + "Adam.step (/lib/site-packages/torch/optim/adam.py:3)";
        assertThat(lineOf(step, log + "Image.save (/lib/site-packages/PIL/Image.py:3)", log + "dumps (/usr/lib/python3.12/json/__init__.py:9)"))
                .isEqualTo("100 % of that work: train.py:9 <module> -> Trainer.fit -> ... -> Callback.log");
    }

    /// What only calls its parts does not say which of them takes the time, though it does nothing else.
    @Test
    void aCallOfTransformsIsFollowedToTheOneThatTheTimeIsIn() {
        String compose = MAIN + "crop (/me/train.py:70);Compose.__call__ (/lib/site-packages/torchvision/transforms.py:5);";
        String jitter = compose + "ColorJitter.forward (/lib/site-packages/torchvision/transforms.py:9)";
        String flip = compose + "RandomFlip.forward (/lib/site-packages/torchvision/transforms.py:7)";
        assertThat(lineOf(MAIN + "step (/me/train.py:99)", jitter, jitter, flip))
                .isEqualTo("100 % of that work: train.py:70 crop -> Compose.__call__ -> ... -> ColorJitter.forward");
        assertThat(lineOf(MAIN + "step (/me/train.py:99)", jitter, flip)).isEqualTo("100 % of that work: train.py:70 crop -> Compose.__call__");
    }

    /// As `next()` of a loader, which is the same for all data sets.
    @Test
    void aCallIsFollowedIntoAnotherPackage() {
        String resize = MAIN + "crop (/me/train.py:70);Compose.__call__ (/lib/site-packages/torchvision/transforms.py:5);"
                + "Compose.__call__.<locals>.inner (/lib/site-packages/torchvision/transforms.py:6);Image.resize (/lib/site-packages/PIL/Image.py:3)";
        assertThat(lineOf(MAIN + "step (/me/train.py:99)", resize, resize))
                .isEqualTo("100 % of that work: train.py:70 crop -> Compose.__call__ -> ... -> Image.resize");
    }

    @Test
    void aCallOfOnePackageThatDoesNothingElseIsNotFollowed() {
        String encode = MAIN + "encode (/me/train.py:70);Tokenizer.encode (/lib/site-packages/tokens/a.py:5);Tokenizer.split (/lib/site-packages/tokens/a.py:9)";
        assertThat(lineOf(MAIN + "step (/me/train.py:99)", encode, encode))
                .isEqualTo("100 % of that work: train.py:70 encode -> Tokenizer.encode");
    }

    @Test
    void cpuBetweenCallsNamesPythonInModulesAndNotTheForwardPass() {
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        String call = MAIN + "Module._call_impl (/v/site-packages/torch/nn/modules/module.py:9);Net.forward (/me/net.py:3);";
        for (int i = 0; i < 12; i++) {
            fixture.backward(i * 100 + 60, 30).region(STEP, i * 100 + 90, 10)
                    .sample(i * 100 + 5, call + "at::bmm (libtorch_cpu.so)")
                    .sample(i * 100 + 15, call + "mask (/me/net.py:5)").sample(i * 100 + 25, call + "mask (/me/net.py:5)")
                    .sample(i * 100 + 35, call + "mask (/me/net.py:6);dumps (/usr/lib/python3.12/json/__init__.py:9)")
                    .sample(i * 100 + 45, MAIN + "log (/me/train.py:70)");
        }
        assertThat(lines("cpu_between_calls", fixture)).containsExactly(
                "50 % of that work: net.py:5 mask",
                "25 % of that work: net.py:6 mask -> dumps",
                "25 % of that work: train.py:70 log");
    }

    @Test
    void loadingNamesTheLinesOfWorkers() {
        RecordingFixture fixture = recording().training(11, 15).fork(0, 200).on(200, 200, "pt_data_worker");
        fixture.event("wait", "poll", 0, 110.0, "status = 0, object = 'pipe:[1]'").region("x", 549, 1);
        for (int i = 0; i < 8; i++) {
            fixture.sample(120 + i * 50, "_worker_loop (/v/site-packages/torch/w.py:300);__getitem__ (/me/data.py:20);blur (/v/site-packages/PIL/f.py:7)");
        }
        fixture.on(200, 207, "pt_data_worker").blocked("wait", "accept4", 100, 400, "serve (/v/site-packages/torch/sharer.py:3)")
                .on(200, 208, "pt_data_worker").sample(120, "blas_thread_server (libopenblas.so.0)").sample(170, "blas_thread_server (libopenblas.so.0)")
                .on(200, 200, "pt_data_worker");
        fixture.blocked("wait", "recvfrom", 130, 40, "__getitem__ (/me/data.py:19)")
                .blocked("wait", "poll", 500, 40, "_worker_loop (/v/site-packages/torch/w.py:280)", "object = 'pipe:[1]'");
        assertThat(lines("too_few_workers", fixture))
                .containsExactly("80 % of the loading: data.py:20 __getitem__ -> blur", "20 % of the loading: data.py:19 __getitem__ -> recvfrom");
    }

    @Test
    void loadingNamesTheLinesOfATrainingThreadThatLoadsItself() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 11; i++) {
            fixture.region(SINGLE, i * 50, 20)
                    .blocked("io", "read", i * 50 + 1, 15, MAIN + "__getitem__ (/me/data.py:20)", "status = 0", "bytes = 1000")
                    .region(STEP, i * 50 + 45, 5).sample(i * 50 + 30, MAIN + "forward (/me/net.py:3)");
        }
        assertThat(lines("storage_bound", fixture)).containsExactly("100 % of the reading: data.py:20 __getitem__ -> read");
    }

    @Test
    void slowStepsNamesWhatTheyHaveAndOthersHaveNot() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            boolean slow = i % 10 == 0;
            fixture.region(NEXT, at, 5).backward(at + 10, 60)
                    .blocked("io", "read", at + 72, 10, MAIN + "always (/me/train.py:1)");
            if (slow) {
                fixture.blocked("wait", "clock_nanosleep", at + 85, 60, MAIN + "report (/me/train.py:2)")
                        .blocked("io", "read", at + 150, 20, MAIN + "always (/me/train.py:1)");
            }
            fixture.region(STEP, at + (slow ? 170 : 90), 10);
            at += slow ? 180 : 100;
        }
        assertThat(lines("slow_steps", fixture)).containsExactly(
                "75 % of what they have more: train.py:2 report -> clock_nanosleep", "25 % of what they have more: train.py:1 always -> read");
    }

    /// The model's forward pass is in all steps; only the slow ones have the validation that calls it.
    @Test
    void slowStepsNamesTheLineThatCallsWhatAllStepsHave() {
        String forward = "Net.forward (/me/net.py:12);Linear.forward (/v/site-packages/torch/nn/modules/linear.py:1)";
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            boolean slow = i % 10 == 0;
            fixture.region(NEXT, at, 5).backward(at + 40, 40).sample(at + 10, "main (/me/train.py:60);" + forward);
            for (int sample = 0; slow && sample < 4; sample++) {
                fixture.sample(at + 90 + sample * 20, "main (/me/train.py:70);validate (/me/train.py:31);" + forward);
            }
            fixture.region(STEP, at + (slow ? 170 : 90), 10);
            at += slow ? 180 : 100;
        }
        assertThat(lines("slow_steps", fixture)).containsExactly("100 % of what they have more: train.py:31 validate -> Net.forward");
    }

    @Test
    void aLineIsNamedOnceWithTheCallThatHoldsMostOfIt() {
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        for (int i = 0; i < 12; i++) {
            fixture.region(NEXT, i * 100, 5).region(STEP, i * 100 + 90, 10)
                    .sample(i * 100 + 30, MAIN + "f (/me/train.py:70);sort (_multiarray.so)")
                    .sample(i * 100 + 40, MAIN + "f (/me/train.py:70);sort (_multiarray.so)")
                    .sample(i * 100 + 50, MAIN + "f (/me/train.py:70);cos (_multiarray.so)")
                    .sample(i * 100 + 60, MAIN + "outer.<locals>.g (/me/train.py:71);sort (_multiarray.so)")
                    .sample(i * 100 + 70, MAIN + "outer.<locals>.g (/me/train.py:71);cos (_multiarray.so)")
                    .sample(i * 100 + 80, MAIN + "outer.<locals>.g (/me/train.py:71)");
        }
        assertThat(lines("cpu_between_calls", fixture))
                .containsExactly("50 % of that work: train.py:70 f -> sort", "50 % of that work: train.py:71 outer.g");
    }

    @Test
    void gcStallNamesTheLinesInWhichItRan() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("gc", "gc.collect", i * 100 + 65, 30.0, "generation = 2, count = 7")
                    .sample(i * 100 + 70, MAIN + "tidy (/me/train.py:33);gc_collect_main (libpython3.12.so.1.0)")
                    .sample(i * 100 + 98, MAIN + "next (/me/train.py:34)");
        }
        assertThat(lines("gc_stall", fixture)).containsExactly("100 % of the collections: train.py:33 tidy");
    }

    @Test
    void evaluationNamesItsLines() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int epoch = 0; epoch < 3; epoch++) {
            for (int i = 0; i < 10; i++, at += 30) {
                fixture.region(NEXT, at, 5).sample(at + 8, MAIN + "train (/me/train.py:40)").backward(at + 10, 10).region(STEP, at + 20, 5);
            }
            fixture.region(NEXT, at, 1);
            at += 1;
            for (int i = 0; i < 5; i++, at += 20) {
                fixture.region(NEXT, at, 5).sample(at + 12, MAIN + "evaluate (/me/train.py:50)");
            }
            fixture.region(NEXT, at, 1);
            at += 1;
        }
        assertThat(lines("evaluation", fixture)).containsExactly("100 % of the evaluation: train.py:50 evaluate");
    }

    @Test
    void theTextNamesAtMostThreeLinesOfWeight() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            for (int line = 1; line <= 5; line++) {
                blocked(fixture, "clock_nanosleep", i * 100 + 62 + line * 5, 5 - (line - 1) * 0.9, MAIN + "nap (/me/train.py:" + line + ")", "status = 0", "NULL");
            }
        }
        Finding finding = fixture.finding("asleep", folder);
        assertThat(finding.lines()).hasSize(5);
        StringWriter text = new StringWriter();
        new FindingsText(new Page(new PrintWriter(text), 100, false, true)).write(new Diagnosis(List.of(finding), List.of()));
        assertThat(text.toString()).contains("\n   line  31 % of the sleep: train.py:1 nap -> clock_nanosleep"
                + "\n         26 % of the sleep: train.py:2 nap -> clock_nanosleep"
                + "\n         20 % of the sleep: train.py:3 nap -> clock_nanosleep\n   try   take the sleep");
    }

    @Test
    void withoutStacksNoLineIsNamed() {
        RecordingFixture fixture = steps();
        for (int i = 0; i < 12; i++) {
            fixture.event("wait", "clock_nanosleep", i * 100 + 62, 10.0, "status = 0")
                    .event("sched", "off-cpu", i * 100 + 62, 10.0, "state = 'sleeping', runq_ns = 0");
        }
        assertThat(lines("asleep", fixture)).isEmpty();
    }

    @Test
    void aFindingSaysItsLinesInItsHeader() {
        SqlObject finding = object("""
                -- T.
                -- lines: the waits WHERE kind = 'wait'
                -- lines: its bytes BY bytes / 2 WHERE kind = 'io'
                -- lines: the loading OF data wait WHERE loads
                SELECT 1
                """);
        assertThat(LineRule.of(finding)).containsExactly(
                new LineRule("the waits", "ns", Optional.empty(), "kind = 'wait'"),
                new LineRule("its bytes", "bytes / 2", Optional.empty(), "kind = 'io'"),
                new LineRule("the loading", "ns", Optional.of("data wait"), "loads"));
        assertThatThrownBy(() -> LineRule.of(object("-- T.\n-- lines: the waits\nSELECT 1\n")))
                .hasMessage("'lines: the waits' has no WHERE");
    }

    private static SqlObject object(String sql) {
        return SqlObject.parse("x", SqlObject.Role.FINDING, sql, "x.sql", 1);
    }

    /// 12 steps of 100 ms: 5 ms data, forward, 30 ms backward, 10 ms optimizer, 40 ms in no call.
    private static RecordingFixture steps() {
        RecordingFixture fixture = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]");
        for (int i = 0; i < 12; i++) {
            fixture.region(NEXT, i * 100, 5).backward(i * 100 + 20, 30).region(STEP, i * 100 + 50, 10);
        }
        return fixture;
    }

    private static void blocked(RecordingFixture fixture, String call, double at, double ms, String stack, String columns, String waker) {
        fixture.blocked("wait", call, at, ms, stack, (call.equals("futex") ? "object = 'futex', " : "") + columns)
                .event("sched", "off-cpu", at, ms, "state = 'sleeping', runq_ns = 0, waker_tid = " + waker);
    }

    private List<String> lines(String finding, RecordingFixture fixture) {
        return fixture.finding(finding, folder).lines().stream().map(FindingLine::text).toList();
    }
}
