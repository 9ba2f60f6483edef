package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.START_NS;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Findings about ranks: who is late and why, who never came.
class RankFindingsTest {
    private static final int RANKS = 4;
    private static final int STEPS = 12;
    private static final double STEP_MS = 40;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "data wait, it waits 8.0 ms longer for data than the others",
        "preemption, it waits 8.0 ms longer for a CPU than the other ranks",
        "allocation, it allocates device memory for 8.0 ms longer",
        "checkpoint, it opens checkpoint files and takes 8.0 ms longer",
        "compute, 'its forward, backward and optimizer take 8.0 ms longer on the CPU; shared out equally among all ranks, that alone saves 5.9 ms'"
    })
    void ncclStragglerFiresAndSaysWhy(String cause, String why) {
        RecordingFixture job = recording();
        for (int rank = 0; rank < RANKS; rank++) {
            steps(job, rank, rank == 2 ? cause : "");
        }
        Finding finding = only("nccl_straggler", job);
        assertThat(finding.subject()).isEqualTo("rank 2 of 4, pid 102");
        // The others come 0.1 ms after each other; rank 3 would be the last one.
        assertThat(finding.value()).isEqualTo(7.9);
        assertThat(finding.lostMillisPerStep()).isEqualTo(7.9);
        assertThat(finding.maxSpeedup()).isEqualTo(1.26);
        assertThat(finding.evidence())
                .isEqualTo("late in 11 of 11 steps, then 7.9 ms after the last of the others and 8.2 ms after the first (medians); "
                        + why + "; saves at most 8.2 ms: 40.0 / (40.0 - 8.2) = 1.26x");
        assertThat(finding.more()).containsEntry("cause", cause);
        try (Database database = Recordings.open(folder.resolve("run.parquet").toString())) {
            assertThat(database.query("SELECT rank, times_last, skew_p50_ns, behind_p50_ns, cause FROM late_ranks").toString())
                    .isEqualTo("rank\ttimes_last\tskew_p50_ns\tbehind_p50_ns\tcause\n2\t12\t8200000\t7900000\t" + cause);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "data wait, it waits 15.0 ms longer for data than the others",
        "asleep, 'it is asleep for 15.0 ms longer, not waiting for data or ranks'",
        "compute, 'its forward, backward and optimizer take 15.0 ms longer on the CPU; shared out equally among all ranks, that alone saves 7.5 ms'"
    })
    void ncclStragglerFiresWithoutNcclForTheRankThatWaitsLeast(String cause, String why) {
        Finding finding = only("nccl_straggler", gloo(cause, true));
        assertThat(finding.subject()).isEqualTo("rank 1 of 2, pid 101");
        assertThat(finding.lostMillisPerStep()).isEqualTo(15);
        assertThat(finding.maxSpeedup()).isEqualTo(1.6);
        assertThat(finding.evidence())
                .isEqualTo("the others wait for it in 11 of 11 steps, the last of them 15.0 ms longer than it does, the first 15.0 ms "
                        + "(medians, torch.distributed); " + why + "; saves at most 15.0 ms: 40.0 / (40.0 - 15.0) = 1.60x");
        assertThat(finding.more()).containsEntry("cause", cause);
        assertThat(run("data_bound", gloo(cause, true))).isEmpty();
    }

    @Test
    void whatMakesARankLateIsOneFindingWithItsLines() {
        RecordingFixture job = gloo("asleep", true);
        for (int step = 0; step < STEPS; step++) {
            job.on(101, 101, "python3")
                    .blocked("wait", "clock_nanosleep", step * STEP_MS + 2, 15, "main (/me/train.py:9);rest (/me/train.py:4)", "status = 0", "depth = 1");
        }
        Finding finding = job.finding("nccl_straggler", folder);
        assertThat(finding.lines()).extracting(line -> line.of() + ": " + line.place())
                .containsExactly("the sleep: train.py:4 rest -> clock_nanosleep");
        assertThat(run("asleep", job)).isEmpty();
    }

    /// The late rank waits 18 ms itself, for an exchange that the other began 10 ms earlier.
    @Test
    void withoutNcclAsMuchIsLostAsMakesTheRankLate() {
        Finding finding = only("nccl_straggler", gloo("asleep", true, 18, 28));
        assertThat(finding.value()).isEqualTo(10.0);
        assertThat(finding.lostMillisPerStep()).isEqualTo(15);
        assertThat(finding.maxSpeedup()).isEqualTo(1.6);
    }

    @Test
    void withoutNcclNoMoreIsLostThanTheOthersWait() {
        assertThat(only("nccl_straggler", gloo("asleep", true, 2, 12)).lostMillisPerStep()).isEqualTo(12);
    }

    @Test
    void workOutsideOfCallsOfOneRankIsWhatMakesItLate() {
        Finding finding = only("nccl_straggler", working(2));
        assertThat(finding.more()).containsEntry("cause", "other");
        assertThat(run("cpu_between_calls", working(2))).isEmpty();
        assertThat(only("cpu_between_calls", working(1)).lostMillisPerStep()).isEqualTo(15);
    }

    @Test
    void aRankThatMakesBytesOfObjectsWhileTheOthersWaitIsToldToExchangeFewer() {
        RecordingFixture job = working(2);
        String torch = "/v/site-packages/torch/distributed/distributed_c10d.py";
        for (int step = 0; step < STEPS; step++) {
            job.on(101, 101, "python3").sample(step * STEP_MS + 5, "main (/me/train.py:9);broadcast_object_list (" + torch
                    + ":3481);dumps (libpython3.so)");
        }
        Finding finding = job.finding("nccl_straggler", folder);
        assertThat(finding.more()).containsEntry("cause", "objects");
        assertThat(finding.evidence()).contains("; 15.0 ms more of its time lies outside every recorded call, most in "
                + "broadcast_object_list, which turns Python objects into bytes while the others wait; ");
        assertThat(finding.advice()).startsWith("exchange objects once or rarely");
        assertThat(finding.lines()).extracting(line -> line.of() + ": " + line.place())
                .containsExactly("that work: train.py:9 main -> broadcast_object_list");
    }

    @Test
    void communicationOfObjectsIsNotToldToOverlapGradients() {
        RecordingFixture job = recording();
        for (int i = 0; i < 11; i++) {
            double at = i * 50;
            job.region(NEXT, at, 1).backward(at + 2, 2).region(STEP, at + 5, 1)
                    .blocked("dist_wait", "Work::wait", at + 10, 20,
                            "main (/me/train.py:9);all_gather_object (/v/site-packages/torch/distributed/distributed_c10d.py:1)");
        }
        assertThat(job.finding("exposed_communication", folder).advice())
                .isEqualTo("exchange objects once or rarely, and few of them; numbers as tensors in place of all_gather_object");
    }

    @Test
    void aLateRankWhoseNumberIsNotKnownIsNamedByItsProcess() {
        Finding finding = only("nccl_straggler", gloo("asleep", false));
        assertThat(finding.subject()).isEqualTo("one of 2 ranks, pid 101");
        assertThat(finding.lostMillisPerStep()).isEqualTo(15);
    }

    @Test
    void communicationWithoutNcclIsWhatTheRankThatComesLastWaits() {
        Finding finding = only("exposed_communication", gloo("asleep", true));
        assertThat(finding.subject()).isEqualTo("2 ranks");
        assertThat(finding.lostMillisPerStep()).isEqualTo(13);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 13.0 ms of 40.0 ms blocked in torch.distributed, not for a rank that is late; "
                        + "the least of 2 ranks; saves at most 13.0 ms: 40.0 / (40.0 - 13.0) = 1.48x");
    }

    /// Four backward passes a step, each of which waits 3 ms for 1 ms of buckets, or only the last.
    @Test
    void exposedCommunicationFiresWithNoSyncFirstWhereEachOfSeveralPassesExchangesGradients() {
        Finding finding = only("exposed_communication", accumulated(4));
        assertThat(finding.lostMillisPerStep()).isEqualTo(12);
        assertThat(finding.maxSpeedup()).isEqualTo(1.6);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 12.0 ms of 40.0 ms blocked in torch.distributed; 4 backward passes for each step of the "
                        + "optimizer, and all exchange gradients: 3 need not, which saves 12.0 ms of these waits and of the calls that hand "
                        + "buckets over; saves at most 15.0 ms: 40.0 / (40.0 - 15.0) = 1.60x");
        assertThat(finding.advice()).startsWith("no_sync() around all but the last of the 4 backward passes of a step; ");
        Finding once = only("exposed_communication", accumulated(1));
        assertThat(once.evidence()).doesNotContain("backward passes");
        assertThat(once.advice()).startsWith("overlap it: ");
    }

    private static RecordingFixture accumulated(int exchanging) {
        RecordingFixture job = rank(recording(), 0);
        for (int step = 0; step < STEPS; step++) {
            double at = step * STEP_MS;
            job.region(NEXT, at, 1);
            for (int pass = 0; pass < 4; pass++) {
                double begin = at + 2 + pass * 9;
                job.backward(begin, 8);
                if (pass >= 4 - exchanging) {
                    job.event("region", "c10d::Reducer::all_reduce_bucket", begin + 3, 1.0, "")
                            .event("dist_wait", "Reducer::finalize_backward", begin + 5, 3.0, "depth = 0");
                }
            }
            job.region(STEP, at + 38, 2);
        }
        return job;
    }

    @Test
    void exposedCommunicationFiresForEachJob() {
        Finding finding = only("exposed_communication", besideAnotherJob(gloo("", true, 16, 16), 32));
        assertThat(finding.subject()).isEqualTo("rank 0 (pid 100) and 1 more");
        assertThat(finding.lostMillisPerStep()).isEqualTo(16);
        assertThat(finding.evidence()).contains("; the least of 2 ranks; ");
    }

    @Test
    void ncclStragglerFiresWithWhatTheRankTakesLongerThanThoseOfItsJob() {
        Finding finding = only("nccl_straggler", besideAnotherJob(gloo("compute", true), 95));
        assertThat(finding.subject()).isEqualTo("rank 1 of 2, pid 101");
        assertThat(finding.more()).containsEntry("cause", "compute");
    }

    /// With two ranks of another job, which wait 1 ms for each other after a backward pass of so many milliseconds.
    private static RecordingFixture besideAnotherJob(RecordingFixture job, double backward) {
        for (int rank = 100; rank < 102; rank++) {
            rank(job, rank);
            for (int step = 0; step < STEPS; step++) {
                double at = step * (backward + 8);
                job.region(NEXT, at, 1).backward(at + 5, backward + 1)
                        .event("dist_wait", "Reducer::finalize_backward", at + 5 + backward, 1.0, "depth = 0")
                        .region(STEP, at + 6 + backward, 2);
            }
        }
        return job.footer("zernel.processes", """
                [{"pid":100,"ppid":99,"environment":{"RANK":"0","WORLD_SIZE":"2","MASTER_ADDR":"a","MASTER_PORT":"1"}},
                {"pid":101,"ppid":99,"environment":{"RANK":"1","WORLD_SIZE":"2","MASTER_ADDR":"a","MASTER_PORT":"1"}},
                {"pid":200,"ppid":99,"environment":{"RANK":"0","WORLD_SIZE":"2","MASTER_ADDR":"a","MASTER_PORT":"2"}},
                {"pid":201,"ppid":99,"environment":{"RANK":"1","WORLD_SIZE":"2","MASTER_ADDR":"a","MASTER_PORT":"2"}}]
                """);
    }

    @Test
    void slowStepsFiresOnceForTheRanksOfAJob() {
        assertThat(run("slow_steps", twoJobsWithSlowSteps(1, 1))).extracting(Finding::subject).containsExactly("rank 0 (pid 102) and 3 more");
        assertThat(run("slow_steps", twoJobsWithSlowSteps(1, 2))).extracting(Finding::subject)
                .containsExactly("rank 0 (pid 102) and 1 more", "rank 0 (pid 100) and 1 more");
    }

    @Test
    void slowStepsFiresForTheRankThatTheOthersWaitFor() {
        Finding finding = only("slow_steps", oneRankStops(false));
        assertThat(finding.subject()).isEqualTo("pid 100 and 1 more");
        assertThat(finding.lostMillisPerStep()).isEqualTo(6.154);
        assertThat(finding.evidence())
                .startsWith("median 40.0 ms, worst 100.0 ms (step 10), every 10 steps; 100 % of the 240.0 ms over the median: ")
                .contains("; 1 other rank waits for it in 4 slow steps; ");
        assertThat(finding.advice()).startsWith("look at what it alone does then, while other ranks wait");
    }

    @Test
    void slowStepsNamesTheRankThatIsWaitedForWhereItsOwnStepsAreNotSlow() {
        Finding finding = only("slow_steps", oneRankStops(true));
        assertThat(finding.subject()).isEqualTo("pid 101");
        assertThat(finding.evidence()).contains("; in 4 of these it waits for pid 100, which is late, as it has no CPU; ");
        assertThat(finding.advice()).startsWith("free CPUs for the late rank: ");
    }

    /// Two ranks of which the first stops for 60 ms in each tenth step, outside of calls, or for want of a CPU; in others
    /// it is the second that comes late.
    private static RecordingFixture oneRankStops(boolean preempted) {
        RecordingFixture job = recording().footer("zernel.processes", "[{\"pid\":100,\"ppid\":99},{\"pid\":101,\"ppid\":99}]");
        for (int rank = 0; rank < 2; rank++) {
            rank(job, rank);
            double at = 0;
            for (int step = 0; step < 40; step++) {
                double stop = step % 10 == 9 ? 60 : 0;
                if (rank == 0 && stop > 0 && preempted) {
                    job.event("sched", "off-cpu", at, stop, "state = 'preempted', runq_ns = 60000000");
                }
                double begin = at + (rank == 0 ? stop : 0);
                double end = at + stop + 38;
                double wait = 2 + (rank == 1 ? stop : step % 10 % 3 == 1 ? 12 : 0);
                job.region(NEXT, begin, 1).backward(begin + 5, end - begin - 5)
                        .event("dist_wait", "Reducer::finalize_backward", end - wait, wait, "depth = 0")
                        .region(STEP, end, 2);
                at += STEP_MS + stop;
            }
        }
        return job;
    }

    /// Four ranks of which each tenth step takes longer, more so those of the second pair.
    private static RecordingFixture twoJobsWithSlowSteps(int... ports) {
        RecordingFixture job = recording();
        List<String> processes = new ArrayList<>();
        for (int process = 0; process < 4; process++) {
            int pair = process / 2;
            processes.add("{\"pid\":" + (100 + process) + ",\"environment\":{\"RANK\":\"" + process % 2
                    + "\",\"MASTER_ADDR\":\"a\",\"MASTER_PORT\":\"" + ports[pair] + "\"}}");
            double at = 0;
            for (int step = 0; step < 40; step++) {
                double slow = step % 10 == 9 ? (pair == 0 ? 80 : 90) : 0;
                rank(job, process).region(NEXT, at, 5).backward(at + 5, 60 + slow)
                        .event("nccl", "ncclAllReduce", at + 60 + slow, 0.05, "status = 0, depth = 0, communicator = 500, comm_id = " + (77 + pair)
                                + ", nranks = 2, rank = " + process % 2 + ", seq = " + step)
                        .region(STEP, at + 90 + slow, 10);
                at += 100 + slow;
            }
        }
        return job.footer("zernel.processes", "[" + String.join(",", processes) + "]");
    }

    @Test
    void ranksThatTakeTurnsInBeingLateAreNoCommunicationAndNoStraggler() {
        RecordingFixture job = gloo("turns", true);
        assertThat(run("nccl_straggler", job)).isEmpty();
        assertThat(only("exposed_communication", gloo("turns", true)).lostMillisPerStep()).isEqualTo(13);
    }

    @Test
    void unevenRanksFiresWhereRanksTakeTurnsInHavingMoreToDo() {
        Finding finding = only("uneven_ranks", gloo("turns", true));
        assertThat(finding.subject()).isEqualTo("2 ranks");
        assertThat(finding.lostMillisPerStep()).isEqualTo(7.5);
        assertThat(finding.maxSpeedup()).isEqualTo(1.23);
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: 7.5 ms of 40.0 ms is the wait of a rank for the last one (mean of 2), the rank that waits "
                        + "least waits 6.8 ms; they take turns: no rank is the last in more than 55 % of the 11 steps in which one is "
                        + "late; its forward, backward and optimizer then take 7.5 ms longer on the CPU than the mean of ranks; saves "
                        + "at most 7.5 ms: 40.0 / (40.0 - 7.5) = 1.23x");
        assertThat(finding.advice()).startsWith("give all ranks equal work in each step: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "compute", "asleep", "preempted in turns", "now and then"})
    void unevenRanksIsSilentForOneLateRankWantOfCpusAndFewSteps(String cause) {
        assertThat(run("uneven_ranks", gloo(cause, true))).isEmpty();
    }

    @Test
    void ncclStragglerIsSilentWithoutNcclWhereAllRanksWaitAlike() {
        assertThat(run("nccl_straggler", gloo("", true))).isEmpty();
    }

    /// Two ranks in one all-reduce of gloo a step, of 13 ms; one comes 15 ms late.
    private static RecordingFixture gloo(String cause, boolean known) {
        return gloo(cause, known, 13, 28);
    }

    /// @param lateWaits how long the late rank is blocked in a step, in milliseconds
    /// @param otherWaits how long the other one is
    private static RecordingFixture gloo(String cause, boolean known, double lateWaits, double otherWaits) {
        RecordingFixture job = recording();
        job.footer(
                "zernel.processes",
                known
                        ? """
                        [{"pid":100,"ppid":99,"environment":{"RANK":"0","WORLD_SIZE":"2","MASTER_ADDR":"a","MASTER_PORT":"1"}},
                        {"pid":101,"ppid":99,"environment":{"RANK":"1","WORLD_SIZE":"2","MASTER_ADDR":"a","MASTER_PORT":"1"}}]
                        """
                        : "[{\"pid\":100,\"ppid\":99},{\"pid\":101,\"ppid\":99}]");
        for (int rank = 0; rank < 2; rank++) {
            rank(job, rank);
            for (int step = 0; step < STEPS; step++) {
                double at = step * STEP_MS;
                boolean late =
                        switch (cause) {
                            case "turns", "preempted in turns" -> step % 2 == rank;
                            case "now and then" -> step % 8 == 4 * rank;
                            default -> rank == 1 && !cause.isEmpty();
                        };
                double data = late && cause.equals("data wait") ? 15 : 0;
                double forward = late && !cause.equals("data wait") ? 15 : 0;
                job.region(NEXT, at, 1 + data).region("DistributedDataParallel.forward", at + 1 + data, 4 + forward);
                if (late && cause.equals("asleep")) {
                    job.event("sched", "off-cpu", at + 2, 15.0, "state = 'sleeping', runq_ns = 0");
                }
                if (late && cause.equals("preempted in turns")) {
                    job.event("sched", "off-cpu", at + 2, 15.0, "state = 'preempted', runq_ns = 15000000");
                }
                double backward = at + 5 + data + forward;
                job.backward(backward, at + 38 - backward)
                        .event("dist_wait", "Reducer::finalize_backward", at + 38 - (late ? lateWaits : otherWaits),
                                late ? lateWaits : otherWaits, "depth = 0")
                        .region(STEP, at + 38, 2);
            }
        }
        return job;
    }

    /// Steps of 40 ms on a CPU, before which the last of the ranks works for 15 ms outside of calls.
    private static RecordingFixture working(int ranks) {
        RecordingFixture job = recording().footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]")
                .footer("zernel.processes", "[{\"pid\":100,\"ppid\":99},{\"pid\":101,\"ppid\":99}]");
        for (int rank = 0; rank < ranks; rank++) {
            rank(job, rank);
            double work = rank == ranks - 1 ? 15 : 0;
            for (int step = 0; step < STEPS; step++) {
                double at = step * STEP_MS;
                job.region(NEXT, at + work, 1).backward(at + work + 5, 33 - work).region(STEP, at + 38, 2);
                if (ranks > 1) {
                    job.event("dist_wait", "Reducer::finalize_backward", at + 38 - (28 - work), 28 - work, "depth = 0");
                }
            }
        }
        return job;
    }

    @Test
    void delaysThatAddUpHaveTheReasonOfTheStepsInWhichTheyGrow() {
        RecordingFixture job = delaysThatAddUp();
        job.gpuSample("utilization", 80, 67, "percent").gpuSample("utilization", 400, 67, "percent");
        Finding finding = only("nccl_straggler", job);
        assertThat(finding.subject()).isEqualTo("rank 2 of 4, pid 102");
        assertThat(finding.more()).containsEntry("cause", "preemption");
        assertThat(finding.evidence()).contains("; it waits 20.0 ms longer for a CPU than the other ranks; ");
        assertThat(run("cpu_preempted", job)).isEmpty();
    }

    @Test
    void delaysThatAddUpCostNoMoreThanTheStepsOfTheOthersAreShorter() {
        Finding finding = only("nccl_straggler", delaysThatAddUp());
        assertThat(finding.lostMillisPerStep()).isCloseTo(20, within(0.1)); // steps of 60 ms, not of 40
        assertThat(finding.maxSpeedup()).isEqualTo(1.5);
    }

    /// Rank 2 takes 20 ms longer for each step, and the others do not wait for it.
    private static RecordingFixture delaysThatAddUp() {
        RecordingFixture job = recording();
        for (int rank = 0; rank < RANKS; rank++) {
            double off = rank == 2 ? 20 : 0;
            for (int step = 0; step < STEPS; step++) {
                double at = step * (STEP_MS + off);
                rank(job, rank).region(NEXT, at, 1).backward(at + 2, 30 + off).region(STEP, at + 34 + off, 5);
                job.on(100 + rank, 1100 + rank, "pt_autograd_0").launch("gemm", at + 3, 0.01);
                if (off > 0) {
                    job.event("sched", "off-cpu", at + 5, off, "state = 'preempted', runq_ns = 20000000");
                }
                allReduce(job, rank, step, at + 31 + off);
            }
        }
        return job;
    }

    @Test
    void ncclStragglerFiresForRanksThatAreLateTogether() {
        RecordingFixture job = recording();
        for (int rank = 0; rank < RANKS; rank++) {
            steps(job, rank, rank >= 2 ? "compute" : "");
        }
        Finding finding = only("nccl_straggler", job);
        assertThat(finding.subject()).isEqualTo("ranks 2, 3 of 4, host box");
        assertThat(finding.lostMillisPerStep()).isEqualTo(8.2);
    }

    @Test
    void ncclStragglerIsSilentForSmallDelays() {
        assertThat(run("nccl_straggler", healthy())).isEmpty();
    }

    @Test
    void hiddenDataBoundFiresWhereLoadingIsSlowerThanAStepWithoutTheLateRank() {
        Finding finding = only("hidden_data_bound", withWorker("compute", 24));
        assertThat(finding.subject()).isEqualTo("pid 100");
        assertThat(finding.value()).isEqualTo(38.0);
        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence())
                .isEqualTo("mean of 11 steps: a batch takes 38.0 ms at least with 1 worker, 5 % of their time waiting for an index; "
                        + "a step takes 40.0 ms, and would take 31.8 ms at best without the wait for rank 2, if there were batches; "
                        + "the job leaves 3.2 of 8 CPUs (what else uses them was not measured)");
        assertThat(finding.advice()).isEqualTo("with the late rank: DataLoader(num_workers=2)");
        assertThat(run("too_few_workers", withWorker("compute", 24))).isEmpty();
    }

    @Test
    void hiddenDataBoundIsSilentWhereWorkersKeepUpOrNoRankIsLate() {
        assertThat(run("hidden_data_bound", withWorker("compute", 120))).isEmpty();
        assertThat(run("hidden_data_bound", withWorker("", 24))).isEmpty();
    }

    /// Rank 2 is late, and rank 0 has a worker that waits for so much of 480 ms.
    private static RecordingFixture withWorker(String cause, double waitingMs) {
        RecordingFixture job = recording();
        for (int rank = 0; rank < RANKS; rank++) {
            steps(job, rank, rank == 2 ? cause : "");
        }
        rank(job, 0).fork(0, 200);
        job.on(200, 200, "pt_data_worker")
                .event("wait", "poll", 0, waitingMs, "status = 0, object = 'pipe:[7]'")
                .region("x", 470, 10);
        return rank(job, 0);
    }

    @Test
    void hangFiresForTheRankThatNeverComes() {
        RecordingFixture job = healthy();
        entered(job, 0, 1, 3);
        Finding finding = only("hang", rank(job, 2).region(NEXT, STEPS * STEP_MS, 0.5)
                .event("region", "validate", STEPS * STEP_MS + 1, null, "depth = 0"));
        assertThat(finding.subject()).isEqualTo("rank 2 of 4, pid 102");
        assertThat(finding.severity()).isEqualTo("high");
        assertThat(finding.value()).isEqualTo(9.5);
        assertThat(finding.evidence())
                .isEqualTo("ranks 0, 1, 3 called ncclAllReduce (number 12 of communicator 77), 2 never did; "
                        + "a step takes 40.0 ms (median); it has not returned from validate");
        try (Database database = Recordings.open(folder.resolve("run.parquet").toString())) {
            assertThat(database.diagnose().findings().getFirst().name()).isEqualTo("hang");
            assertThat(database.query("SELECT what, entered, missing, open_call, last_name FROM hangs WHERE what <> 'open call'")
                            .toString())
                    .isEqualTo("what\tentered\tmissing\topen_call\tlast_name\n"
                            + "missing rank\t0, 1, 3\t2\tvalidate\tvalidate");
            assertThat(database.query("SELECT rank, arg_max(outstanding, at_ns) AS n FROM outstanding_collectives "
                                    + "GROUP BY rank ORDER BY rank")
                            .toString())
                    .isEqualTo("rank\tn\n0\t1\n1\t1\n2\t0\n3\t1");
        }
    }

    @Test
    void hangFiresForARankThatExited() {
        RecordingFixture job = healthy();
        entered(job, 0, 1, 3);
        Finding finding = only("hang", rank(job, 2).event("process", "exit", STEPS * STEP_MS + 2, null, "status = 137"));
        assertThat(finding.evidence()).endsWith("2 never did; a step takes 40.0 ms (median); it exited with 137");
    }

    @Test
    void hangFiresForRanksThatCallDifferentCollectives() {
        RecordingFixture job = healthy();
        entered(job, 0, 1, 3);
        rank(job, 2).event("nccl", "ncclAllGather", STEPS * STEP_MS + 5, 0.05, "depth = 0, comm_id = 77, nranks = 4, rank = 2, "
                + "seq = 12, communicator = 500, dtype = 'int64', count = 1");
        assertThat(only("hang", job).evidence())
                .startsWith("for collective number 12 of communicator 77, rank 0, 1, 3: ncclAllReduce sum of 1000 float32; "
                        + "rank 2: ncclAllGather of 1 int64; ");
    }

    @Test
    void hangFiresForACallThatNeverReturns() {
        RecordingFixture job = recording();
        steps(job, 0, "");
        Finding finding = only("hang", rank(job, 0).event("region", NEXT, STEPS * STEP_MS, null, "depth = 0"));
        assertThat(finding.subject()).isEqualTo("pid 100");
        assertThat(finding.evidence()).isEqualTo(NEXT + " did not return in 9.5 s; a step takes 40.0 ms (median); it lived on");
    }

    @Test
    void hangIsSilentWhenTheRecordingEndsWithTheJobOrSoonAfter() {
        RecordingFixture job = healthy();
        entered(job, 0, 1, 3);
        job.footer("zernel.recording", "{\"host\":\"box\",\"ended_ns\":" + (START_NS + 900_000_000) + "}");
        assertThat(run("hang", job)).isEmpty();
        RecordingFixture exited = recording();
        steps(exited, 0, "");
        rank(exited, 0).event("region", NEXT, STEPS * STEP_MS, null, "depth = 0")
                .event("process", "exit", STEPS * STEP_MS + 20, null, "status = 0");
        assertThat(run("hang", exited)).isEmpty();
    }

    @Test
    void hangFiresForAProcessThatStoodStillUntilItWasKilled() {
        RecordingFixture job = recording();
        steps(job, 0, "");
        Finding finding = only("hang", rank(job, 0).event("region", NEXT, STEPS * STEP_MS, null, "depth = 0")
                .on(100, 134, "cuda-EvtHandlr")
                .event("process", "exit", STEPS * STEP_MS + 5000, null, "status = 137"));
        assertThat(finding.evidence())
                .isEqualTo(NEXT + " did not return in 5.0 s; a step takes 40.0 ms (median); then it was ended with 137");
        assertThat(finding.advice()).startsWith("look at the data workers");
    }

    @Test
    void hangIsSilentForAProcessThatEndedInACall() {
        RecordingFixture killed = recording();
        steps(killed, 0, "");
        rank(killed, 0).event("cuda_sync", "cuCtxSynchronize_v2", STEPS * STEP_MS, null, "depth = 0")
                .on(100, 134, "cuda-EvtHandlr") // the last thread of many that ended
                .event("process", "exit", STEPS * STEP_MS + 20, null, "status = 137");
        assertThat(run("hang", killed)).isEmpty();
        RecordingFixture footer = recording();
        steps(footer, 0, "");
        rank(footer, 0).event("cuda_sync", "cuCtxSynchronize_v2", STEPS * STEP_MS, null, "depth = 0")
                .footer("zernel.processes", "[{\"pid\":100,\"exited_ns\":" + (START_NS + 600_000_000) + "}]");
        assertThat(run("hang", footer)).isEmpty();
        RecordingFixture replaced = recording();
        steps(replaced, 0, "");
        rank(replaced, 0).event("region", NEXT, STEPS * STEP_MS, null, "depth = 0")
                .event("process", "exec", STEPS * STEP_MS + 20, null, "");
        assertThat(run("hang", replaced)).isEmpty();
    }

    @Test
    void hangIsSilentForAServerThatWaitsInARegionOfItsOwn() {
        RecordingFixture server = recording().footer(
                "zernel.recording", "{\"host\":\"box\",\"ended_ns\":" + (START_NS + 90_000_000_000L) + "}");
        assertThat(run("hang", server.event("region", "wait for a request", 1, null, "depth = 0"))).isEmpty();
        RecordingFixture loads = recording().footer(
                "zernel.recording", "{\"host\":\"box\",\"ended_ns\":" + (START_NS + 90_000_000_000L) + "}");
        assertThat(run("hang", loads.event("region", NEXT, 1, null, "depth = 0"))).hasSize(1);
    }

    @Test
    void hangIsSilentForCallsWhoseEndWasLost() {
        RecordingFixture job = recording();
        steps(job, 0, "");
        rank(job, 0).event("region", NEXT, 100, null, "depth = 0");
        assertThat(run("hang", job)).isEmpty();
    }

    private static RecordingFixture healthy() {
        RecordingFixture job = recording();
        for (int rank = 0; rank < RANKS; rank++) {
            steps(job, rank, "");
        }
        return job;
    }

    private static RecordingFixture rank(RecordingFixture job, int rank) {
        return job.on(100 + rank, 100 + rank, "python3");
    }

    /// Steps of 40 ms with an all-reduce each, to which ranks come 0.1 ms after each other, or 8 ms later.
    private static void steps(RecordingFixture job, int rank, String cause) {
        rank(job, rank);
        for (int step = 0; step < STEPS; step++) {
            double at = step * STEP_MS;
            double late = cause.isEmpty() ? 0 : 8;
            double data = cause.equals("data wait") ? 8 : 0;
            job.region(NEXT, at, 1 + data);
            switch (cause) {
                case "preemption" -> job.event("sched", "off-cpu", at + 2, 8.0, "state = 'preempted', runq_ns = 8000000");
                case "allocation" -> job.gpuAlloc(at + 2, 8, 1000, 0);
                case "checkpoint" -> job.event("io_open", "openat", at + 2, 0.1, "status = 3, path = '/ckpt/model.pt'");
                default -> {}
            }
            double backward = at + 8 + late;
            job.backward(backward, 10);
            allReduce(job, rank, step, backward + 5 + rank * 0.1);
            job.region(STEP, backward + 10, 2).sync(backward + 12, at + STEP_MS - backward - 12);
        }
    }

    private static void allReduce(RecordingFixture job, int rank, int number, double at) {
        job.event("nccl", "ncclAllReduce", at, 0.05, "status = 0, depth = 0, op = 'sum', dtype = 'float32', count = 1000, "
                + "communicator = 500, comm_id = 77, nranks = 4, rank = " + rank + ", seq = " + number);
    }

    private static void entered(RecordingFixture job, int... ranks) {
        for (int rank : ranks) {
            allReduce(rank(job, rank), rank, STEPS, STEPS * STEP_MS + 5);
            job.event("cuda_sync", "cudaStreamSynchronize", STEPS * STEP_MS + 6, null, "depth = 0");
        }
    }

    private Finding only(String name, RecordingFixture fixture) {
        return fixture.finding(name, folder);
    }

    private List<Finding> run(String name, RecordingFixture fixture) {
        return fixture.findings(name, folder);
    }
}
