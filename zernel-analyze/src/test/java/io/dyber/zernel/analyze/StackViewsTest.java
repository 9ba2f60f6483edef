package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.Table;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What is made of stacks: frames, lines, and the time in them.
class StackViewsTest {
    private static final String MAIN = "<module> (/home/me/train.py:120);main (/home/me/train.py:80)";

    @TempDir
    Path folder;

    @Test
    void stacksAreSplitIntoFramesFromTheInnermost() {
        assertThat(rows(
                        recording().sample(1, "<module> (/home/me/train.py:120);Net.forward (/home/me/net.py);"
                                + "THPVariable_item (libtorch_python.so);[libc.so.6]")
                                .sample(2, "<module> (/home/me/train.py:121)"),
                        "SELECT id, frame, function, file, line, module FROM stacks"))
                .containsExactly(
                        "1 0 null libc.so.6 null libc.so.6",
                        "1 1 THPVariable_item libtorch_python.so null libtorch_python.so",
                        "1 2 Net.forward /home/me/net.py null null",
                        "1 3 <module> /home/me/train.py 120 null",
                        "2 0 <module> /home/me/train.py 121 null");
    }

    /// Of ten samples of a line the first so many are in a call, the others in the line itself. Eight are in steps after warm-up.
    @ParameterizedTest
    @CsvSource({"10, train.py:80 main -> Tensor.backward", "4, train.py:80 main (50 % of it in Tensor.backward)", "0, train.py:80 main"})
    void aLineOfAStepNamesItsCallWithItsShareWhereThatIsNotAll(int called, String place) {
        RecordingFixture fixture = recording().training(12, 5);
        for (int i = 0; i < 10; i++) {
            fixture.sample(50 * (i + 2) - 20, MAIN
                    + (i < called ? ";Tensor.backward (/lib/python3.12/site-packages/torch/_tensor.py:5)" : ""));
        }
        assertThat(rows(fixture, "SELECT place FROM step_lines WHERE line LIKE 'train.py%' LIMIT 1")).containsExactly(place);
    }

    /// What all stacks of a call have says as little as the call.
    @Test
    void aCallThatIsAllOfItsLineSaysWhatItDoesBelowWhatAllOfItIsIn() {
        String train = ";Trainer.train (/v/site-packages/transformers/trainer.py:1);Trainer.training_step (/v/site-packages/transformers/trainer.py:2);";
        RecordingFixture fixture = recording().training(12, 5);
        for (int i = 0; i < 10; i++) {
            fixture.sample(50 * (i + 2) - 20, MAIN + train + switch (i % 4) {
                case 0 -> "Accelerator.backward (/v/site-packages/accelerate/accelerator.py:3)";
                case 1 -> "sum (/v/site-packages/torch/sum.py:3)";
                default -> "Net.forward (/v/site-packages/transformers/models/net.py:1);Linear.forward (/v/site-packages/torch/nn/linear.py:1)";
            });
        }
        assertThat(rows(fixture, "SELECT place FROM step_lines WHERE own")).containsExactly(
                "train.py:80 main -> Trainer.train (of it 50 % in Net.forward, 25 % in Accelerator.backward, 25 % in sum)");
    }

    /// A teacher and a student of one class: a line of that says nothing.
    @Test
    void aLineOfAStepThatIsReachedFromSeveralIsToldByThese() {
        String forward = ";Encoder.forward (/home/me/net.py:11);Linear.forward (/lib/python3.12/site-packages/torch/nn/linear.py:5)";
        RecordingFixture fixture = recording().training(12, 5);
        for (int i = 0; i < 10; i++) {
            fixture.sample(50 * (i + 2) - 20, "main (/home/me/train.py:" + (i < 3 ? 25 : 26) + ")" + forward);
        }
        assertThat(rows(fixture, "SELECT place FROM step_lines WHERE own")).containsExactly(
                "train.py:26 main -> Encoder.forward", "train.py:25 main -> Encoder.forward");
        fixture.blocked("io", "read", 305, 1, "main (/home/me/train.py:26)" + forward);
        assertThat(rows(fixture, "SELECT line, events FROM step_lines WHERE own")).containsExactly("train.py:26 main 6", "train.py:25 main 3");
        RecordingFixture one = recording().training(12, 5);
        for (int i = 0; i < 10; i++) {
            one.sample(50 * (i + 2) - 20, "main (/home/me/train.py:25)" + forward);
        }
        assertThat(rows(one, "SELECT place FROM step_lines WHERE own")).containsExactly("net.py:11 Encoder.forward -> Linear.forward");
    }

    @Test
    void aStackJoinsItsEventsByItsText() {
        assertThat(rows(
                        recording().blocked("wait", "futex", 1, 2, MAIN).blocked("wait", "futex", 5, 3, MAIN),
                        "SELECT events.dur_ns, stacks.line FROM events JOIN stacks USING (stack) WHERE frame = 0 ORDER BY events.ts_ns"))
                .containsExactly("2000000 80", "3000000 80");
    }

    @ParameterizedTest
    @CsvSource(nullValues = "null", value = {
        "f (/home/me/train.py:1), null",
        "f (train.py), null",
        "<lambda> (/home/me/my project (2)/train.py:1), null",
        "f (/home/me/venv/lib/python3.12/site-packages/torch/optim/adamw.py:7), torch",
        "f (/usr/lib/python3/dist-packages/six.py:7), six",
        "f (/usr/lib/python3.11/threading.py:7), python",
        "f (/opt/py/lib/python3.13t/queue.py:7), python",
        "f (<frozen importlib._bootstrap>:7), python",
        "f (<string>:1), null",
        "f (<stdin>:1), null",
        "forward (<eval_with_key>.3:5), torch",
        "call (/tmp/torchinductor_root/ab/cab.py:5), torch",
        "__init__ (<attrs generated init a.B>:2), generated",
        "at::native::copy_(at::Tensor&) (libtorch_cpu.so), libtorch_cpu.so",
        "(anonymous namespace)::f() (libmine.so), libmine.so",
        "[libc.so.6], libc.so.6",
        "[deeper], null"
    })
    void theModuleSaysWhoseCodeAFrameIs(String frame, String module) {
        assertThat(rows(recording().sample(1, frame), "SELECT module FROM stacks")).containsExactly(String.valueOf(module));
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', nullValues = "null", value = {
        // the user's innermost frame, and the next one inward
        "main (/me/train.py:80);log_loss (/me/train.py:88);Tensor.item (/v/site-packages/torch/_tensor.py:5), train.py:88 log_loss, Tensor.item",
        "main (/me/train.py:80);log_loss (/me/train.py:88), train.py:88 log_loss, null",
        // between them, the interpreter says nothing
        "log_loss (/me/train.py:88);[libpython3.12.so.1.0];cfunction_vectorcall (python3.12);torch::autograd::THPVariable_item(_object*) (libtorch_python.so);[libc.so.6], train.py:88 log_loss, Tensor.item",
        "load (/me/data.py:3);at::native::copy_(at::Tensor&) (libtorch_cpu.so), data.py:3 load, at::native::copy_",
        // a loop over elements is known by its template's arguments
        "load (/me/data.py:3);void c10::function_ref<void (char**)>::callback_fn<at::native::AVX2::VectorizedLoop2d<at::native::(anonymous namespace)::mul_kernel(at::TensorIteratorBase&)::{lambda()#2} > >(long) (libtorch_cpu.so), data.py:3 load, at::native::mul_kernel",
        "load (/me/data.py:3);_ZN3c1012function_refIFvPPcPKlllEE11callback_fnIZN2at18TensorIteratorBase15loop_2d_from_1dIZNS8_6native4AVX217cpu_serial_kernelIZZZNSB_9templates3cpu12_GLOBAL__N_114uniform_kernelIPNS8_16CPUGeneratorI... (libtorch_cpu.so), data.py:3 load, at::native::uniform_kernel",
        "load (/me/data.py:3);[libcuda.so.1], data.py:3 load, libcuda.so.1",
        // what decorates says less than what it decorates, unless nothing else of Python is called
        "main (/me/a.py:3);old.<locals>.wrapper (/v/site-packages/t/d.py:1);no_grad (/v/site-packages/torch/_contextlib.py:1);Model.generate (/v/site-packages/t/g.py:1);Model.forward (/v/site-packages/t/g.py:9), a.py:3 main, Model.generate",
        "main (/me/a.py:3);old.<locals>.wrapper (/v/site-packages/t/d.py:1);syscall (libc.so.6), a.py:3 main, old.wrapper",
        // and so does the call of a module
        "judge (/me/a.py:3);Module._wrapped_call_impl (/v/site-packages/torch/nn/modules/module.py:5);Module._call_impl (/v/site-packages/torch/nn/modules/module.py:6);Metric.forward (/v/site-packages/m/m.py:3), a.py:3 judge, Metric.forward",
        // code without a file is the user's where there is no other
        "<module> (<string>:1);spawn_main (/usr/lib/python3.12/multiprocessing/spawn.py:9);f (/me/a.py:2);g (<string>:7), a.py:2 f, g",
        "<module> (<string>:4);wait (/usr/lib/python3.12/threading.py:9), <string>:4 <module>, wait",
        // what forked a process is not its own
        "main (/me/a.py:3);start (/usr/lib/python3.12/multiprocessing/process.py:5);BaseProcess._bootstrap (/usr/lib/python3.12/multiprocessing/process.py:9);run (/me/b.py:2);read (/usr/lib/python3.12/io.py:4), b.py:2 run, read",
        "main (/me/a.py:3);_bootstrap (/usr/lib/python3.12/multiprocessing/process.py:9);fetch (/v/site-packages/torch/utils/data/fetch.py:2);stack (libtorch_cpu.so), fetch.py:2 fetch, stack",
        // none of the user's: the innermost of Python, else of native code
        "[deeper];run (/usr/lib/python3.12/threading.py:9);work (/v/site-packages/torch/pin.py:2);poll (libc.so.6), pin.py:2 work, poll",
        "clone (libc.so.6);gomp_thread_start (libgomp.so.1);at::parallel(int) (libtorch_cpu.so), at::parallel (libtorch_cpu.so), null",
        "[libfoo.so], libfoo.so, null",
        "[libfoo.so];malloc (libpython3.11.so.1.0), libfoo.so, null",
        "malloc (libpython3.11.so.1.0), malloc (libpython3.11.so.1.0), null",
        "main (/me/a.py:3);[unreadable];read (/usr/lib/python3.11/io.py:4), a.py:3 main, read",
        "[unreadable], [unreadable], null",
        "forward (/me/net.py), net.py forward, null"
    })
    void aStackHasTheLineOfTheUsersInnermostCode(String stack, String line, String calls) {
        assertThat(rows(recording().sample(1, stack), "SELECT line || ' -> ' || coalesce(called, library, 'null') FROM stack_lines"))
                .containsExactly(line + " -> " + calls);
    }

    @Test
    void aCallWhoseLibraryAloneIsKnownIsNamedByItsEvent() {
        RecordingFixture fixture = recording().blocked("wait", "futex", 1, 2, "f (/me/a.py:2);[libc.so.6]")
                .sample(9, "f (/me/a.py:2);[libcuda.so.1]");
        assertThat(rows(fixture, "SELECT kind, called FROM line_times ORDER BY at_ns")).containsExactly("wait futex", "sample libcuda.so.1");
    }

    @Test
    void timeInCallsInsideOneAnotherCountsOnce() {
        RecordingFixture fixture = recording()
                .region("epoch", 0, 100).alter("UPDATE events SET stack = 'r (/me/a.py:1)'") // around all: stands for nothing
                .blocked("cuda_sync", "cudaStreamSynchronize", 10, 10, "a (/me/a.py:1)")
                .blocked("wait", "futex", 12, 5, "b (/me/a.py:2)")
                .sample(15, "c (/me/a.py:3)") // it spins
                .sample(40, "c (/me/a.py:3)")
                .blocked("io", "read", 50, 4, "d (/me/a.py:4)")
                .on(100, 101, "other").sample(15, "c (/me/a.py:3)"); // another thread
        assertThat(rows(fixture, """
                SELECT tid, kind, state, calls, total_ns / 1e6, line
                FROM stack_times
                JOIN stack_lines USING (id)
                ORDER BY tid, total_ns DESC
                """)).containsExactly(
                "100 sample on-cpu 1 20.0 a.py:3 c",
                "100 cuda_sync gpu 1 10.0 a.py:1 a",
                "100 io storage 1 4.0 a.py:4 d",
                "101 sample on-cpu 1 20.0 a.py:3 c");
    }

    @Test
    void timeBlockedSaysOnWhat() {
        RecordingFixture fixture = recording()
                .blocked("wait", "clock_nanosleep", 0, 2, "a (/me/a.py:1)")
                .blocked("wait", "futex", 10, 2, "a (/me/a.py:1)")
                .blocked("wait", "poll", 20, 2, "a (/me/a.py:1)", "object = 'pipe:[7]'")
                .blocked("wait", "recvmsg", 30, 2, "a (/me/a.py:1)")
                .blocked("dist_wait", "c10d::Work::wait", 40, 2, "a (/me/a.py:1)")
                .blocked("gpu_alloc", "cudaMalloc", 50, 2, "a (/me/a.py:1)")
                .blocked("gc", "collection", 60, 2, "a (/me/a.py:1)");
        assertThat(rows(fixture, "SELECT state, name FROM stack_events ORDER BY start_ns")).containsExactly(
                "asleep clock_nanosleep", "thread futex", "pipe poll", "socket recvmsg", "collective c10d::Work::wait",
                "gpu cudaMalloc", "gc collection");
    }

    @Test
    void aLineSaysWhatTheTrainingDidMeanwhile() {
        RecordingFixture fixture = recording().training(6, 15)
                .fork(1, 300)
                .sample(55, "a (/me/a.py:1)") // waits for the second batch
                .sample(140, "b (/me/a.py:2)"); // backward of the third step
        fixture.on(100, 101, "logger").sample(140, "c (/me/a.py:3)");
        fixture.on(300, 300, "pt_data_worker").io(20, 1, 100).sample(140, "d (/me/a.py:4)").io(190, 1, 100);
        fixture.on(400, 400, "bash").sample(140, "e (/me/a.py:5)");
        assertThat(rows(fixture, "SELECT pid, tid, train_pid, thread, step, step_kind, part, line FROM line_times ORDER BY tid, at_ns"))
                .containsExactly(
                        "100 100 100 training 2 train data_wait a.py:1 a",
                        "100 100 100 training 3 train backward a.py:2 b",
                        "100 101 100 other 3 train backward a.py:3 c",
                        "300 300 100 worker 3 train backward a.py:4 d",
                        "400 400 400 process null null null a.py:5 e");
    }

    @Test
    void samplesAreNoCalls() {
        RecordingFixture fixture = recording().training(6, 15).region(NEXT, 210, 15).region(STEP, 230, 5);
        String[] views = {
            "SELECT * FROM steps", "SELECT * FROM phases", "SELECT * FROM phase_parts", "SELECT * FROM thread_states",
            "SELECT * FROM percentiles", "SELECT * FROM process_percentiles", "SELECT * FROM training_threads",
            "SELECT * FROM processes", "SELECT * FROM hangs", "SELECT * FROM _progress", "SELECT * FROM _threads",
            "SELECT * FROM workers", "SELECT * FROM anomalies", "SELECT * FROM step_timeline"
        };
        List<List<String>> without = List.of(views).stream().map(view -> rows(fixture, view)).toList();
        fixture.sample(-5, MAIN).sample(55, MAIN).sample(900, MAIN);
        fixture.on(100, 107, "python3").sample(5, MAIN).on(500, 500, "python3").sample(6, MAIN);
        for (int i = 0; i < views.length; i++) {
            assertThat(rows(fixture, views[i])).as(views[i]).isEqualTo(without.get(i));
        }
        assertThat(rows(fixture, "SELECT kind, events FROM kinds WHERE kind = 'sample'")).containsExactly("sample 5");
    }

    @Test
    void samplesOfOperatorsTellArithmeticFromWhatIsAroundIt() {
        RecordingFixture fixture = recording().training(12, 15);
        String[] functions = {
            "mkl_blas_def_dgemm_kernel_zen (libtorch_cpu.so)", // arithmetic, in double precision
            "void at::native::cpublas::gemm_notrans_<c10::Half> (libtorch_cpu.so)", // in half
            "[libgomp.so.1]", // waits for the pool
            "c10::Dispatcher::call (libtorch_cpu.so)", // around
            "torch::autograd::Engine::thread_main (libtorch_cpu.so)", // around
            "malloc (libc.so.6)", // around
            "gc_collect_main (libpython3.11.so.1.0)", // neither
            "Linear.forward (/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134)", // neither: code made at run time
            "[libcustom.so]", // neither
            "_PyEval_EvalFrameDefault (libpython3.11.so.1.0)" // around
        };
        for (int i = 0; i < functions.length; i++) {
            fixture.sample(50 * (i + 2) - 20, MAIN + ";" + functions[i]);
        }
        assertThat(rows(fixture, "SELECT samples, arithmetic_share, around_share, double_share, half_share FROM operator_samples"))
                .containsExactly("10 0.3 0.4 0.1 0.1");
        assertThat(rows(fixture, "SELECT one_thread, idle_cpus FROM operator_samples")).containsExactly("false null");
    }

    @Test
    void operatorsUseOneThreadWhereNoPoolIsSeen() {
        RecordingFixture fixture = recording().training(12, 15);
        for (int i = 0; i < 10; i++) {
            fixture.sample(50 * (i + 2) - 20, MAIN + ";mkl_blas_avx512_sgemm_kernel (libtorch_cpu.so)");
        }
        fixture.footer("zernel.processes", "[{\"pid\":100,\"environment\":{\"OMP_NUM_THREADS\":\"1\"}}]");
        assertThat(rows(fixture, "SELECT one_thread, arithmetic_share, omp_threads FROM operator_samples")).containsExactly("true 1.0 1");
    }

    @Test
    void recordingsWithoutStacksHaveNone() {
        RecordingFixture fixture = recording().training(6, 15).alter("ALTER TABLE events DROP COLUMN stack")
                .alter("ALTER TABLE events DROP COLUMN period_ns");
        for (String view : List.of("stacks", "stack_lines", "stack_times", "stack_events", "line_times")) {
            assertThat(rows(fixture, "FROM " + view)).as(view).isEmpty();
        }
    }

    private List<String> rows(RecordingFixture fixture, String sql) {
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            return database.query(sql).rows().stream().map(StackViewsTest::text).toList();
        }
    }

    private static String text(Table.Row row) {
        return String.join(" ", row.values().stream().map(String::valueOf).toList());
    }
}
