package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.ZERO_GRAD;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ViewsTest {
    @TempDir
    Path folder;

    @Test
    void phasesFollowTheInnermostCallAndSumToTheWallTime() {
        RecordingFixture fixture = recording()
                .region("epoch", 0, 200) // around whole steps: says nothing
                .region(NEXT, 10, 20)
                .region("augment", 12, 5) // inside the wait: part of it
                .region("forward", 32, 18)
                .backward(50, 30)
                .event("nccl", "ncclAllReduce", 60, 5.0, "")
                .region(STEP, 85, 10)
                .region(ZERO_GRAD, 96, 2)
                .region(NEXT, 100, 10)
                .region(STEP, 150, 10);
        assertThat(phases(fixture)).containsExactly(
                "DataLoading 30 of 150 inferred 0",
                "GpuCompute 45 of 150 inferred 2",
                "NcclCollective 5 of 150 inferred 0",
                "OptimizerStep 22 of 150 inferred 0",
                "Unknown 48 of 150 inferred 0");
    }

    @Test
    void timeThatLeadsFromABatchToBackwardIsForward() {
        assertThat(phases(recording().region(NEXT, 0, 10).backward(30, 10).region(STEP, 45, 5))).containsExactly(
                "DataLoading 10 of 50 inferred 0",
                "GpuCompute 30 of 50 inferred 20",
                "NcclCollective 0 of 50 inferred 0",
                "OptimizerStep 5 of 50 inferred 0",
                "Unknown 5 of 50 inferred 0");
    }

    @Test
    void callsOfTheDriversAllocatorExplainTheirTime() {
        assertThat(phases(recording().region(NEXT, 0, 10).backward(30, 10).gpuFree(42, 6, "NULL").region(STEP, 48, 2)))
                .containsExactly(
                        "DataLoading 10 of 50 inferred 0",
                        "GpuCompute 36 of 50 inferred 20",
                        "NcclCollective 0 of 50 inferred 0",
                        "OptimizerStep 2 of 50 inferred 0",
                        "Unknown 2 of 50 inferred 0");
    }

    @Test
    void writesAndFlushesAreNoReads() {
        Path file = recording()
                .event("io", "read", 0, 1.0, "bytes = 10, path = '/data/a'")
                .event("io", "page_fault", 2, 1.0, "bytes = 20, path = '/data/a'")
                .event("io", "io_uring_read", 4, 1.0, "bytes = 40, path = '/data/a'")
                .event("io", "write", 6, 9.0, "bytes = 80, path = '/data/a'")
                .event("io", "fsync", 16, 9.0, "path = '/data/a'")
                .event("io", "rename", 26, 9.0, "path = '/data/a'")
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT reads, bytes, sum_ns // 1000000 AS ms FROM reads"))
                .isEqualTo("reads\tbytes\tms\n3\t70\t3");
        assertThat(query(file, "SELECT reads, bytes FROM reads_by_file")).isEqualTo("reads\tbytes\n3\t70");
    }

    @Test
    void aWorkerThatSleepsOrWaitsForASocketIsNotIdle() {
        Path file = recording()
                .training(10, 15)
                .fork(1, 300)
                .on(300, 300, "pt_data_worker")
                .event("wait", "poll", 10, 20.0, "status = 0, object = 'pipe:[7]'")
                .waiting("clock_nanosleep", 40, 100)
                .waiting("recvfrom", 200, 100)
                .event("io", "write", 310, 50.0, "bytes = 5000")
                .io(480, 5, 10)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT idle_ns // 1000000 AS idle, blocked_ns // 1000000 AS blocked, io_ns // 1000000 AS io, reads, read_bytes FROM workers"))
                .isEqualTo("idle\tblocked\tio\treads\tread_bytes\n20\t200\t5\t1\t10");
    }

    @Test
    void withoutADataLoaderTheTimeBeforeBackwardIsUnknown() {
        assertThat(phases(recording().region(STEP, 0, 10).backward(30, 10).region(STEP, 40, 10))).containsExactly(
                "DataLoading 0 of 50 inferred 0",
                "GpuCompute 10 of 50 inferred 0",
                "NcclCollective 0 of 50 inferred 0",
                "OptimizerStep 20 of 50 inferred 0",
                "Unknown 20 of 50 inferred 0");
    }

    @Test
    void aClosureInsideTheOptimizerIsCompute() {
        assertThat(phases(recording().region(NEXT, 0, 10).region(STEP, 15, 45).backward(30, 20))).containsExactly(
                "DataLoading 10 of 60 inferred 0",
                "GpuCompute 40 of 60 inferred 20", // from the batch on: also what leads to Optimizer.step
                "NcclCollective 0 of 60 inferred 0",
                "OptimizerStep 10 of 60 inferred 0",
                "Unknown 0 of 60 inferred 0");
    }

    @Test
    void allUpToTheLastBackwardPassOfAClosureIsCompute() {
        assertThat(phases(recording().region(NEXT, 0, 10).region(STEP, 10, 90)
                .region(ZERO_GRAD, 12, 3).backward(20, 10)
                .region(NEXT, 32, 8).region(ZERO_GRAD, 42, 3).backward(50, 10)
                .region("Optimizer.step#SGD.step", 70, 20))) // an inner optimizer, after the closure
                .containsExactly(
                        "DataLoading 18 of 100 inferred 0",
                        "GpuCompute 36 of 100 inferred 16",
                        "NcclCollective 0 of 100 inferred 0",
                        "OptimizerStep 46 of 100 inferred 0",
                        "Unknown 0 of 100 inferred 0");
    }

    @Test
    void aClosureNeedsNoDataLoader() {
        assertThat(phases(recording().region(STEP, 0, 10).region(STEP, 20, 30).backward(30, 15))).containsExactly(
                "DataLoading 0 of 50 inferred 0",
                "GpuCompute 25 of 50 inferred 10",
                "NcclCollective 0 of 50 inferred 0",
                "OptimizerStep 15 of 50 inferred 0",
                "Unknown 10 of 50 inferred 0");
    }

    @Test
    void aStepWithAClosureEndsWithItsOptimizer() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 3; i++) {
            fixture.region(NEXT, 60 * i, 10).region(STEP, 60 * i + 10, 50).backward(60 * i + 30, 20);
        }
        assertThat(query(fixture.write(folder.resolve("run.parquet")), """
                SELECT step, (start_ns - 1800000000000000000) // 1000000 AS start, dur_ns // 1000000 AS ms,
                    gpu_compute_ns // 1000000 AS compute, optimizer_step_ns // 1000000 AS optimizer, batches
                FROM steps
                """)).isEqualTo("""
                step	start	ms	compute	optimizer	batches
                1	0	60	40	10	1
                2	60	60	40	10	1
                3	120	60	40	10	1""");
    }

    @Test
    void evaluationBetweenEpochsIsComputeAndNoPartOfATrainingStep() {
        RecordingFixture fixture = recording().training(10, 5) // 10 steps of 40 ms
                .region(NEXT, 400, 0.5) // no more batches
                .region(NEXT, 402, 4).region(NEXT, 412, 4).region(NEXT, 422, 4).region(NEXT, 432, 2) // evaluation
                .region(NEXT, 440, 5).backward(455, 20).region(STEP, 475, 5)
                .region(NEXT, 480, 4).region(NEXT, 490, 4).region(NEXT, 500, 2); // evaluation, at the end
        Path file = fixture.write(folder.resolve("run.parquet"));
        assertThat(query(file, """
                SELECT (start_ns - 1800000000000000000) // 1000000 AS start, (end_ns - start_ns) // 1000000 AS ms
                FROM _evaluations ORDER BY ALL
                """)).isEqualTo("start\tms\n402\t32\n480\t22");
        assertThat(query(file, """
                SELECT evaluations, total_ns // 1000000 AS total, mean_ns // 1000000 AS mean, round(share, 3) AS share, steps,
                    step_ns // 1000000 AS step
                FROM evaluations
                """)).isEqualTo("evaluations\ttotal\tmean\tshare\tsteps\tstep\n2\t54\t27\t0.108\t10\t40.0");
        assertThat(query(file, """
                SELECT step_kind, count(*) AS steps, sum(evaluation_ns) // 1000000 AS evaluation
                FROM steps GROUP BY ALL ORDER BY ALL
                """)).isEqualTo("step_kind\tsteps\tevaluation\nevaluation\t1\t32\ntrain\t9\t0\nwarmup\t1\t0");
        assertThat(query(file, "SELECT part, inferred, total_ns // 1000000 AS ms FROM phase_parts WHERE part = 'evaluation'"))
                .isEqualTo("part\tinferred\tms\nevaluation\ttrue\t30");
    }

    @Test
    void aJobThatLaunchesNothingIsDescribedInWordsOfACpu() {
        String watched = "[{\"kind\":\"cuda_launch\",\"state\":\"waiting\",\"why\":null,\"events\":0}]";
        String words = "SELECT label, words FROM phase_words WHERE phase IN ('GpuCompute', 'NcclCollective') ORDER BY ALL";
        String gpu = "label\twords\nGpuCompute\tcompute and waits for the GPU\nNcclCollective\tcommunication";
        assertThat(query(recording().training(3, 5).footer("zernel.kinds", watched).write(folder.resolve("run.parquet")), words))
                .isEqualTo("label\twords\nCollective\tcommunication\nCompute\tcompute");
        assertThat(query(recording().training(3, 5).launch("k", 1, 0.1).footer("zernel.kinds", watched)
                        .write(folder.resolve("gpu.parquet")), words))
                .isEqualTo(gpu);
        assertThat(query(recording().training(3, 5).write(folder.resolve("unwatched.parquet")), words)).isEqualTo(gpu);
    }

    @Test
    void phasesOfRandomlyNestedCallsMatchAPaintedTimeline() {
        for (long seed = 1; seed <= 20; seed++) {
            RandomCalls calls = new RandomCalls(seed);
            assertThat(phaseSums(calls.fixture)).as("seed %d", seed).isEqualTo(calls.painted());
        }
    }

    @Test
    void phasesOfAnyStreamOfEventsPartitionTheWallTime() {
        for (long seed = 1; seed <= 15; seed++) {
            Path file = anyEvents(new Random(seed)).write(folder.resolve("run.parquet"));
            try (Database database = Recordings.open(file.toString())) {
                assertThat(database.query("""
                        SELECT pid, tid
                        FROM phases
                        GROUP BY ALL
                        HAVING sum(total_ns) <> any_value(wall_ns) OR min(total_ns) < 0
                            OR abs(sum(share) - 1) > 1e-9 OR count(*) <> 5
                        """).rows()).as("seed %d", seed).isEmpty();
                assertThat(database.query("""
                        SELECT start_ns
                        FROM _segments
                        QUALIFY end_ns <> lead(start_ns, 1, end_ns) OVER (PARTITION BY pid, tid ORDER BY start_ns)
                        """).rows()).as("holes or overlaps, seed %d", seed).isEmpty();
                assertThat(database.query("""
                        SELECT threads.wall_ns, spans.end_ns - spans.start_ns AS span_ns
                        FROM training_threads AS threads
                        JOIN _thread_numbers USING (pid, tid)
                        JOIN (SELECT thread, min(start_ns) AS start_ns, max(end_ns) AS end_ns
                            FROM _intervals GROUP BY ALL) AS spans USING (thread)
                        WHERE threads.wall_ns <> spans.end_ns - spans.start_ns
                        """).rows()).as("wall time, seed %d", seed).isEmpty();
                assertThat(database.query("SELECT * FROM training_threads").rows()).isNotEmpty();
            }
        }
    }

    @Test
    void aStepEndsWithTheOptimizerAndHoldsItsPhases() {
        Path file = recording().training(3, 15).write(folder.resolve("run.parquet"));
        assertThat(query(file, """
                SELECT step, (start_ns - 1800000000000000000) // 1000000 AS start, dur_ns // 1000000 AS ms,
                    data_loading_ns // 1000000 AS data, gpu_compute_ns // 1000000 AS compute,
                    optimizer_step_ns // 1000000 AS optimizer, batches, source
                FROM steps
                """)).isEqualTo("""
                step	start	ms	data	compute	optimizer	batches	source
                1	0	50	15	30	5	1	Optimizer.step
                2	50	50	15	30	5	1	Optimizer.step
                3	100	50	15	30	5	1	Optimizer.step""");
    }

    @Test
    void severalOptimizersOnOneBatchAreOneStep() {
        Path file = recording().region(NEXT, 0, 10).region(STEP, 20, 5).region("Optimizer.step#SGD.step", 30, 5)
                .region(NEXT, 40, 10).region(STEP, 60, 5).region("Optimizer.step#SGD.step", 70, 5)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT step, dur_ns // 1000000 AS ms FROM steps"))
                .isEqualTo("step\tms\n1\t35\n2\t40");
    }

    @Test
    void withoutAnOptimizerAStepIsABatch() {
        Path file = recording().region(NEXT, 0, 10).region(NEXT, 30, 10).region(NEXT, 70, 10)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT step, dur_ns // 1000000 AS ms, source FROM steps"))
                .isEqualTo("step\tms\tsource\n1\t30\tDataLoader\n2\t40\tDataLoader");
    }

    @Test
    void aThreadWithoutRegionsHasNoSteps() {
        Path file = recording().io(0, 10, 1).write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT step FROM steps")).isEqualTo("step");
        assertThat(query(file, "SELECT phase FROM phases")).isEqualTo("phase");
    }

    @Test
    void percentilesAreExactAndSayWhatTheTimeIs() {
        RecordingFixture fixture = recording();
        for (int i = 1; i <= 101; i++) {
            fixture.waiting("futex", i * 1000, i);
        }
        Path file = fixture.event("wait", "futex", 0, null, "").region("a", 1, 2).write(folder.resolve("run.parquet"));
        assertThat(query(file, """
                SELECT kind, name, time, count, unfinished, sum_ns // 1000000 AS sum, p50_ns // 1000000 AS p50,
                    p90_ns // 1000000 AS p90, p99_ns // 1000000 AS p99, p999_ns, max_ns // 1000000 AS max
                FROM percentiles
                """)).isEqualTo("""
                kind	name	time	count	unfinished	sum	p50	p90	p99	p999_ns	max
                wait	futex	blocked	101	1	5151	51	91	100	100900000	101
                region	a	wall	1	0	2	2	2	2	2000000	2""");
    }

    @Test
    void aPassWithoutForksEndsWithTwoWaitsInARow() {
        Path file = recording().region(NEXT, 0, 1).backward(2, 5).region(STEP, 8, 1)
                .region(NEXT, 10, 1).backward(12, 5).region(STEP, 18, 1)
                .region(NEXT, 20, 1) // learns that the pass is over
                .region(NEXT, 30, 1).backward(32, 5).region(STEP, 38, 1)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT epoch, batch FROM data_wait")).isEqualTo("epoch\tbatch\n1\t1\n1\t2\n1\t3\n2\t1");
        assertThat(query(file, "SELECT epoch, waits, sum_ns FROM data_wait_by_epoch"))
                .isEqualTo("epoch\twaits\tsum_ns\n1\t3\t3000000\n2\t1\t1000000");
    }

    @Test
    void aWaitForDataSaysWhetherTheProcessLoadsThemItself() {
        Path file = recording()
                .region("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 1)
                .region("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5, 1)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT in_process FROM data_wait")).isEqualTo("in_process\ntrue\nfalse");
    }

    @Test
    void aPassBeginsWhereWorkersAreForked() {
        Path file = recording().fork(0, 200).region(NEXT, 1, 1).region(NEXT, 3, 1)
                .fork(5, 201).region(NEXT, 6, 1)
                .on(200, 200, "pt_data_worker").waiting("poll", 1, 3)
                .on(201, 201, "pt_data_worker").waiting("poll", 6, 1)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT epoch, batch FROM data_wait")).isEqualTo("epoch\tbatch\n1\t1\n1\t2\n2\t1");
    }

    @Test
    void aWorkersWaitsAreClippedToTheTrainingAndTheRestIsOnACpu() {
        String index = "status = 0, object = 'pipe:[7]'";
        Path file = recording().fork(0, 200).region(NEXT, 0, 10).region(STEP, 90, 10)
                .on(200, 200, "pt_data_worker").event("wait", "poll", 10, 20.0, index).io(40, 5, 4096)
                .event("wait", "recvfrom", 50, 8.0, "status = 0, object = 'socket:[9]'")
                .event("wait", "poll", 95, 50.0, index)
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, """
                SELECT pid, ppid, window_ns // 1000000 AS window_ms, idle_ns // 1000000 AS idle,
                    blocked_ns // 1000000 AS blocked, io_ns // 1000000 AS io, read_bytes, cpu_ns // 1000000 AS cpu
                FROM workers
                """)).isEqualTo("""
                pid	ppid	window_ms	idle	blocked	io	read_bytes	cpu
                200	100	90	25	8	5	4096	52""");
    }

    @Test
    void processesHaveRolesAndWhatTheFooterKnows() {
        Path file = recording().training(2, 5).fork(0, 200)
                .on(200, 200, "python3").io(1, 1, 1).on(200, 200, "pt_data_worker").io(3, 1, 1)
                .on(300, 300, "bash").waiting("poll", 0, 10)
                .footer("zernel.processes", "[{\"pid\":100,\"ppid\":99,\"comm\":\"python3\",\"cmdline\":[\"python3\",\"t.py\"]}]")
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT pid, ppid, comm, role, events, cmdline FROM processes")).isEqualTo("""
                pid	ppid	comm	role	events	cmdline
                100	99	python3	training	7	python3 t.py
                300	null	bash	other	1	null
                200	null	pt_data_worker	data worker	2	null""");
    }

    @Test
    void probesAndKindsComeFromTheFooter() {
        Path file = recording().region("a", 0, 1).footer("zernel.probes", """
                [{"kind":"region","symbol":"enter","state":"attached","entries":3,"returns":2,"no_return":1}]
                """).write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT kind, symbol, state, entries, returns, no_return, lost FROM probes"))
                .isEqualTo("kind\tsymbol\tstate\tentries\treturns\tno_return\tlost\nregion\tenter\tattached\t3\t2\t1\tnull");
        assertThat(query(file, "SELECT kind, state, events FROM kinds"))
                .isEqualTo("kind\tstate\tevents\nregion\tattached\t1");
        assertThat(query(file, "SELECT host, complete, events, command FROM recordings"))
                .isEqualTo("host\tcomplete\tevents\tcommand\nbox\ttrue\t1\tpython3 train.py");
    }

    @Test
    void timeOffTheCpuIsSummedByThreadAndReason() {
        Path file = recording()
                .event("sched", "off-cpu", 0, 3.0, "state = 'sleeping', runq_ns = 1000")
                .event("sched", "off-cpu", 10, 5.0, "state = 'sleeping', runq_ns = 2000")
                .event("sched", "off-cpu", 20, 1.0, "state = 'preempted', runq_ns = 1000000")
                .event("sched", "off-cpu", 30, null, "state = 'preempted'")
                .on(100, 101, "loader")
                .event("sched", "off-cpu", 0, 2.0, "state = 'io', runq_ns = 0")
                .write(folder.resolve("run.parquet"));
        assertThat(query(file, "SELECT tid, comm, state, spans, sum_ns, runq_ns, max_ns FROM off_cpu")).isEqualTo("""
                tid\tcomm\tstate\tspans\tsum_ns\trunq_ns\tmax_ns
                100\tpython3\tsleeping\t2\t8000000\t3000\t5000000
                101\tloader\tio\t1\t2000000\t0\t2000000
                100\tpython3\tpreempted\t2\t1000000\t1000000\t1000000""");
    }

    private List<String> phases(RecordingFixture fixture) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query("SELECT phase, total_ns, wall_ns, inferred_ns FROM phases").rows().stream()
                    .map(row -> row.text("phase") + " " + row.integer("total_ns") / 1_000_000 + " of "
                            + row.integer("wall_ns") / 1_000_000 + " inferred "
                            + row.integer("inferred_ns") / 1_000_000)
                    .toList();
        }
    }

    private List<Long> phaseSums(RecordingFixture fixture) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            Table table = database.query("SELECT total_ns // 1000000 AS ms FROM phases ORDER BY phase");
            return table.rows().stream().map(row -> row.integer("ms")).toList();
        }
    }

    private static String query(Path file, String sql) {
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }

    /// Random calls of all kinds on three threads, some at the same time, without a duration, or not seen to end; calls of
    /// one thread may overlap without nesting, which no program does. One thread may have no regions, only what repeats.
    private static RecordingFixture anyEvents(Random random) {
        RecordingFixture fixture = recording();
        boolean repeats = random.nextBoolean();
        for (int copy = 0; repeats && copy < 25; copy++) {
            fixture.on(102, 102, "python3").copy("HtoD", "pinned", copy * 20, random.nextInt(2), 4096);
        }
        for (int i = 0; i < 150; i++) {
            int tid = 100 + random.nextInt(3);
            fixture.on(tid / 102 * 2 + 100, tid, "python3");
            double start = random.nextInt(500);
            double length = random.nextInt(8) == 0 ? 0 : 1 + random.nextInt(random.nextInt(10) == 0 ? 200 : 20);
            int kind = random.nextInt(11);
            switch (tid == 102 && repeats ? 4 + kind % 7 : kind) {
                case 0 -> fixture.region(NEXT, start, length);
                case 1 -> fixture.region(STEP, start, length);
                case 2 -> fixture.region(ZERO_GRAD, start, length);
                case 3 -> fixture.backward(start, length);
                case 4 -> fixture.allReduce(0, i, start, length, 1000);
                case 5 -> fixture.sync(start, length);
                case 6 -> fixture.copy("DtoH", "pageable", start, length, 4);
                case 7 -> fixture.event("dist_wait", "c10d::Work::wait", start, length, "depth = 0");
                case 8 -> fixture.io(start, length, 100);
                case 9 -> fixture.event("cuda_sync", "cudaStreamSynchronize", start, null, "depth = 0");
                default -> fixture.launch("gemm", start, length);
            }
        }
        return fixture;
    }

    /// Random properly nested calls on one thread, and the same painted millisecond by millisecond, outer before inner.
    private static final class RandomCalls {
        private static final int LENGTH = 400;
        private static final List<String> PHASES =
                List.of("DataLoading", "GpuCompute", "NcclCollective", "OptimizerStep", "Unknown");

        final RecordingFixture fixture = recording();
        private final Random random;
        private final int[] timeline = new int[LENGTH];
        private final List<int[]> optimizers = new ArrayList<>();
        private final List<int[]> backwards = new ArrayList<>();

        RandomCalls(long seed) {
            random = new Random(seed);
            java.util.Arrays.fill(timeline, 4);
            // Makes it a training thread from 0 to the end; no DataLoader, so nothing is inferred before random ones.
            call(0, 1, 3);
            call(LENGTH - 1, LENGTH, 3);
            nest(1, LENGTH - 1, 0);
            optimizers.forEach(this::closure);
        }

        /// What an optimizer does before the last backward pass inside it is its closure's.
        private void closure(int[] optimizer) {
            int until = backwards.stream()
                    .filter(backward -> backward[0] >= optimizer[0] && backward[1] <= optimizer[1])
                    .mapToInt(backward -> backward[1])
                    .max()
                    .orElse(0);
            for (int at = optimizer[0]; at < until; at++) {
                timeline[at] = timeline[at] == 3 ? 1 : timeline[at];
            }
        }

        List<Long> painted() {
            List<Long> sums = new ArrayList<>();
            for (int phase = 0; phase < PHASES.size(); phase++) {
                int wanted = phase;
                sums.add(java.util.Arrays.stream(timeline).filter(painted -> painted == wanted).count());
            }
            return sums;
        }

        private void nest(int from, int to, int depth) {
            int at = from;
            while (at < to && depth < 5) {
                int start = at + random.nextInt(Math.max(1, (to - at) / 3 + 1));
                int end = Math.min(to, start + 1 + random.nextInt(Math.max(1, to - from)));
                if (start >= end) {
                    return;
                }
                // Everything but DataLoading, which would infer forward passes.
                call(start, end, List.of(1, 2, 3).get(random.nextInt(3)));
                // Of two calls with the same begin and end nobody can say which is the inner one.
                nest(start + 1, end, depth + 1);
                at = end;
            }
        }

        private void call(int start, int end, int phase) {
            java.util.Arrays.fill(timeline, start, end, phase);
            double length = end - start;
            (phase == 1 ? backwards : phase == 3 ? optimizers : new ArrayList<int[]>()).add(new int[] {start, end});
            switch (phase) {
                case 1 -> fixture.backward(start, length);
                case 2 -> fixture.event("nccl", "ncclAllReduce", start, length, "");
                default -> fixture.region(STEP, start, length);
            }
        }
    }
}
