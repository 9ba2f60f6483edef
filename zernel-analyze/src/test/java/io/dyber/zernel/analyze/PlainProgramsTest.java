package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is said of a program that loads neither PyTorch nor CUDA.
class PlainProgramsTest {
    private static final String SEEN = "SELECT pid, program, seen FROM programs_without_steps";

    @TempDir
    Path folder;

    private String query(RecordingFixture fixture) {
        return answer(fixture, SEEN);
    }

    private String answer(RecordingFixture fixture, String sql) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }

    private static RecordingFixture plain() {
        return recording()
                .footer("zernel.kinds", """
                        [{"kind":"backward","state":"waiting"},{"kind":"cuda_launch","state":"waiting"},
                        {"kind":"sched","state":"attached"}]
                        """)
                .footer("zernel.processes", "[{\"pid\":100,\"comm\":\"python3\",\"cmdline\":[\"python3\",\"plain.py\"]}]")
                .event("process", "exec", 0, null, "")
                .event("sched", "off-cpu", 1000, 2000.0, "state = 'sleeping', runq_ns = 500000000")
                .io(3000, 400, 2_000_000)
                .io(3400, 100, 1_000_000)
                .event("wait", "futex", 5000, 300.0, "object = 'futex'")
                .event("call", "my_work", 6000, 2000.0, "")
                .event("io_open", "openat", 8000, 0.01, "")
                .event("process", "exit", 10_000, null, "");
    }

    @Test
    void itsTimeAndItsLongestCallsAreSeen() {
        assertThat(query(plain())).isEqualTo("""
                pid	program	seen
                100	python3 plain.py	10.0 s of its main thread: 80 % on a CPU at most, 5 % ready without one, \
                15 % asleep or blocked; longest in calls: my_work 2000.0 ms in 1 call, read (3.0 MB) 500.0 ms in 2 calls, \
                futex on futex 300.0 ms in 1 call""");
    }

    @Test
    void ofSeveralProcessesItIsTheOneThatComputes() {
        RecordingFixture fixture = plain();
        fixture.on(200, 200, "cat").event("process", "exec", 0, null, "").event("process", "exit", 12_000, null, "");
        fixture.event("sched", "off-cpu", 10, 11_980.0, "state = 'sleeping', runq_ns = 0");
        assertThat(query(fixture)).startsWith("pid\tprogram\tseen\n100\tpython3 plain.py\t");
    }

    @Test
    void otherThreadsCount() {
        RecordingFixture fixture = plain();
        fixture.on(100, 101, "python3").event("process", "start", 1000, null, "").event("process", "exit", 4000, null, "");
        assertThat(query(fixture)).contains("; all 2 threads used 11.0 s of CPU time at most; ");
    }

    @Test
    void aProgramWithStepsIsNone() {
        RecordingFixture fixture = plain();
        for (int i = 0; i < 10; i++) {
            fixture.event("call", "my_step", 100.0 * i, 90.0, "role = 'step'");
        }
        assertThat(query(fixture)).isEqualTo("pid\tprogram\tseen");
    }

    @Test
    void aProgramThatRanBeforeIsNone() {
        assertThat(query(plain().footer("zernel.recording", "{\"command\":[]}"))).isEqualTo("pid\tprogram\tseen");
    }

    @Test
    void aProgramThatLoadedPyTorchIsNone() {
        assertThat(query(plain().footer("zernel.kinds", """
                [{"kind":"backward","state":"attached"},{"kind":"cuda_launch","state":"waiting"},
                {"kind":"sched","state":"attached"}]
                """))).isEqualTo("pid\tprogram\tseen");
    }

    @Test
    void theLinesOfTheThreadThatComputesMostAreTold() {
        String serve = "serve (/me/serve.py:17)";
        RecordingFixture fixture = plain().on(100, 101, "python3");
        fixture.event("process", "start", 0, null, "").event("process", "exit", 10_000, null, "");
        for (int i = 0; i < 50; i++) {
            fixture.sample(i * 20, "<module> (/me/serve.py:1);_load (<frozen importlib._bootstrap>:1)");
        }
        for (int i = 0; i < 10; i++) {
            fixture.blocked("wait", "futex", 2000 + i * 700, 600, "gather (/me/serve.py:11);Queue.get (/usr/lib/python3.12/queue.py:1)")
                    .sample(2000 + i * 700 + 650, serve);
        }
        fixture.blocked(
                "wait", "epoll_wait", 9200, 450, "<module> (/me/serve.py:40);run (/usr/lib/python3.12/asyncio/runners.py:1)",
                "object = 'anon_inode:[eventpoll]'");
        fixture.on(100, 100, "python3").blocked("wait", "futex", 8500, 1000, "<module> (/me/serve.py:30)").sample(9900, serve);
        assertThat(answer(fixture, """
                SELECT tid, wall_ns // 1000000 AS wall, place, doing, calls, total_ns // 1000000 AS total, round(share, 2) AS share
                FROM lines_without_steps
                """)).isEqualTo("""
                tid	wall	place	doing	calls	total	share
                101	9000	serve.py:11 gather -> Queue.get	waiting for another thread	10	6000	0.67
                101	9000	serve.py:40 <module> -> run	waiting for events, as an event loop does	1	450	0.05
                101	9000	serve.py:17 serve	on a CPU	10	200	0.02""");
    }

    @Test
    void linesOfOneFunctionAreToldTogetherAndShortCallsWhereTheirNameWasSeen() {
        RecordingFixture fixture = recording();
        String main = "<module> (/me/save.py:40);main (/me/save.py:30)";
        for (int i = 0; i < 10; i++) {
            fixture.sample(i * 100 + 5, main + ";Module.__call__ (/v/site-packages/torch/nn.py:1);Linear.forward (/v/site-packages/torch/nn.py:2)")
                    .sample(i * 100 + 20, main + ";write (/me/save.py:13);fsync (libc.so.6)")
                    .sample(i * 100 + 30, main + ";write (/me/save.py:10);dumps (/usr/lib/python3.12/json/__init__.py:1)");
            for (int call = 0; call < 10; call++) {
                fixture.event("io", "fsync", i * 100 + 40 + 4 * call, 3.0, "bytes = 0");
            }
        }
        assertThat(answer(fixture, """
                SELECT part, place, doing, calls, total_ns // 1000000 AS total, round(part_share, 2) AS part_share
                FROM lines_without_steps
                """)).isEqualTo("""
                part	place	doing	calls	total	part_share
                save.py write	save.py:10 write -> dumps	on a CPU	10	200	0.51
                save.py write	save.py:13 write -> fsync	on a CPU	10	200	0.51
                save.py write	save.py:13 write -> fsync	blocked on storage	100	100	0.51
                save.py:30 main	save.py:30 main -> Module.__call__ -> ... -> Linear.forward	on a CPU	10	200	0.21""");
    }

    /// What most of a call is in is not all of it.
    @Test
    void aFunctionThatIsPartOfWhatALineCallsSaysHowMuch() {
        RecordingFixture fixture = recording();
        String fit = "<module> (/me/search.py:41);Pipeline.fit (/v/site-packages/sklearn/pipeline.py:1);";
        for (int i = 0; i < 100; i++) {
            fixture.sample(i * 20, fit + (i % 4 == 0
                    ? "SGDClassifier.fit (/v/site-packages/sklearn/linear.py:1)" : "CountVectorizer.fit_transform (/v/site-packages/sklearn/text.py:1)"));
        }
        assertThat(answer(fixture, "SELECT place, inner_share FROM lines_without_steps")).isEqualTo("""
                place	inner_share
                search.py:41 <module> -> Pipeline.fit -> ... -> CountVectorizer.fit_transform (75 % of the line)	0.75""");
    }

    @Test
    void threadsThatBeginAlikeCountTogetherAndNotTheOneThatWaitsForThem() {
        RecordingFixture fixture = recording()
                .blocked("wait", "futex", 0, 1000, "<module> (/me/fit.py:9);fit (/v/site-packages/forest.py:1)", "object = 'futex'")
                .sample(1, "<module> (/me/fit.py:3)");
        for (int i = 0; i < 20; i++) {
            fixture.on(100, 101 + i, "python3")
                    .io(i * 50, 1, 1)
                    .sample(i * 50 + 5, "Thread.run (/usr/lib/python3.12/threading.py:1);worker (/usr/lib/python3.12/pool.py:1);"
                            + "Tree.fit (/v/site-packages/tree.py:7)")
                    .io(i * 50 + 40, 1, 1);
        }
        assertThat(answer(fixture, """
                SELECT DISTINCT threads, wall_ns // 1000000 AS wall, place, doing FROM lines_without_steps WHERE line IS NOT NULL
                """)).isEqualTo("""
                        threads	wall	place	doing
                        20	820	tree.py:7 Tree.fit	on a CPU""");
    }

    /// Imports for a second, then requests for four, which import a little, 8 % of the time: all but those of 0.8 s count.
    @Test
    void importsInEachRequestAreNoStart() {
        String imports = "<module> (/me/serve.py:1);_load (<frozen importlib._bootstrap>:1)";
        String again = "score (/me/serve.py:9);current_async_library (/v/site-packages/httpcore/_synchronization.py:1);"
                + "_load (<frozen importlib._bootstrap>:1)";
        RecordingFixture fixture = plain();
        for (int i = 0; i < 50; i++) {
            fixture.sample(i * 20, imports);
        }
        for (int i = 50; i < 250; i++) {
            fixture.sample(i * 20, i % 12 == 0 ? again : "score (/me/serve.py:7)");
        }
        assertThat(answer(fixture, "SELECT place, calls FROM lines_without_steps WHERE line IS NOT NULL"))
                .isEqualTo("place\tcalls\nserve.py:7 score\t152");
    }

    /// It frees all objects: 2.5 s on a CPU after the last line of the program.
    @Test
    void theEndOfTheInterpreterIsNoWork() {
        RecordingFixture fixture = plain();
        for (int i = 0; i < 500; i++) {
            fixture.sample(i * 20, i < 375 ? "main (/me/fit.py:7)" : "gc_collect_main (libpython3.12.so.1.0)");
        }
        assertThat(answer(fixture, "SELECT place, calls, wall_ns // 1000000 AS wall FROM lines_without_steps WHERE line IS NOT NULL"))
                .isEqualTo("place\tcalls\twall\nfit.py:7 main\t375\t7500");
    }

    /// Native code whose caller cannot be told goes on until the recording ends, but mostly waits.
    @Test
    void aProgramThatWaitsAfterItsLastLineHasNotEnded() {
        RecordingFixture fixture = plain();
        for (int i = 0; i < 100; i++) {
            fixture.sample(i < 75 ? i * 20 : i * 60 - 3000, i < 75 ? "main (/me/fit.py:7)" : "serve_loop (libserver.so)");
        }
        assertThat(answer(fixture, "SELECT sum(calls) AS calls FROM lines_without_steps WHERE line IS NOT NULL")).isEqualTo("calls\n100");
    }

    @Test
    void ofAProcessWithStepsNoLinesAreTold() {
        RecordingFixture fixture = plain();
        for (int i = 0; i < 10; i++) {
            fixture.event("call", "my_step", 100.0 * i, 90.0, "role = 'step'").sample(100.0 * i + 50, "work (/me/train.py:1)");
        }
        assertThat(answer(fixture, "SELECT tid FROM lines_without_steps")).isEqualTo("tid");
    }
}
