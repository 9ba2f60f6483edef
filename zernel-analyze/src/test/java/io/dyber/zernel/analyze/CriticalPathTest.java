package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.cli.Record;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the end of each step of a job rested on.
class CriticalPathTest {
    private static final int STEPS = 8;

    @TempDir
    Path folder;

    /// What one rank does longer in one step, in milliseconds.
    private record Late(int rank, int step, double data, double compute) {}

    @Test
    void aPathBeginsWithTheRankThatTheOthersWaitFor() {
        RecordingFixture job = nccl(2, 2, new Late(1, 3, 10, 0), new Late(0, 5, 0, 8));
        assertThat(rows(job, "SELECT step, dur_ns, ranks, path FROM critical_steps WHERE step BETWEEN 3 AND 5"))
                .isEqualTo("""
                        step\tdur_ns\tranks\tpath
                        3\t43000000\t2\trank 1 data wait -> all-reduce 1 -> everyone
                        4\t33000000\t1\trank 0 backward
                        5\t41000000\t1\trank 0 compute -> all-reduce 2 -> everyone""");
    }

    @Test
    void thePartsOfAPathAddUpToTheStep() {
        RecordingFixture job = nccl(2, 2, new Late(1, 3, 10, 0));
        assertThat(rows(job, "SELECT place, stretch, who, pid, what, cause, number, dur_ns, round(share, 2) AS share "
                        + "FROM critical_path WHERE step = 3"))
                .isEqualTo("""
                        place\tstretch\twho\tpid\twhat\tcause\tnumber\tdur_ns\tshare
                        1\t1\trank 1\t101\tdata wait\tdata wait\tnull\t11000000\t0.26
                        2\t1\trank 1\t101\tforward\tdata wait\tnull\t1000000\t0.02
                        3\t2\tnull\tnull\tall-reduce 1\tnull\t4\t1000000\t0.02
                        4\t3\teveryone\t100\tforward\tnull\tnull\t2000000\t0.05
                        5\t3\teveryone\t100\tbackward\tnull\tnull\t18000000\t0.42
                        6\t3\teveryone\t100\tcommunication\tnull\tnull\t500000\t0.01
                        7\t3\teveryone\t100\tGPU wait\tnull\tnull\t2500000\t0.06
                        8\t3\teveryone\t100\toptimizer\tnull\tnull\t7000000\t0.16""");
    }

    @Test
    void aPathGoesOverAllRanksThatWereWaitedFor() {
        RecordingFixture job = nccl(3, 3, new Late(2, 4, 10, 0), new Late(1, 4, 0, 8));
        assertThat(rows(job, "SELECT path FROM critical_steps WHERE step = 4"))
                .isEqualTo("path\nrank 2 data wait -> all-reduce 1 -> rank 1 backward -> all-reduce 2 -> everyone");
    }

    @Test
    void aRankOnThePathInEveryStepHasTheLargestShare() {
        Late[] late = new Late[STEPS];
        for (int step = 0; step < STEPS; step++) {
            late[step] = new Late(1, step + 1, 10, 0);
        }
        assertThat(rows(nccl(3, 3, late), "SELECT who, rank, steps, of_steps, round(share, 2) AS share, cause, what, "
                        + "round(what_share, 2) AS what_share, worst_step, worst_path FROM critical_ranks"))
                .isEqualTo("""
                        who\trank\tsteps\tof_steps\tshare\tcause\twhat\twhat_share\tworst_step\tworst_path
                        rank 1\t1\t7\t7\t0.28\tdata wait\tdata wait\t0.26\t2\trank 1 data wait -> all-reduce 1 -> everyone""");
    }

    @Test
    void ranksThatComeTogetherWaitForNone() {
        assertThat(rows(nccl(3, 3), "SELECT DISTINCT who, path FROM critical_steps JOIN critical_path USING (job, step)"))
                .isEqualTo("who\tpath\nrank 0\trank 0 backward");
    }

    @Test
    void aJobOfOneRankHasNoPath() {
        assertThat(rows(nccl(1, 1), "FROM critical_steps").lines()).hasSize(1);
        assertThat(rows(nccl(1, 2), "FROM critical_steps").lines()).hasSize(1);
    }

    @Test
    void aRankThatIsNotRecordedIsNotOnThePath() {
        assertThat(rows(nccl(2, 3, new Late(1, 3, 10, 0)), "SELECT path FROM critical_steps WHERE step = 3"))
                .isEqualTo("path\nrank 1 data wait -> all-reduce 1 -> everyone");
    }

    @Test
    void ofMostRanksNotRecordedThereIsNoPath() {
        assertThat(rows(nccl(2, 4, new Late(1, 3, 10, 0)), "FROM critical_steps").lines()).hasSize(1);
    }

    @Test
    void withoutNcclAPathGoesToTheRankThatWaitsLeast() {
        assertThat(rows(gloo(true), "SELECT path FROM critical_steps WHERE step = 3"))
                .isEqualTo("path\nrank 1 asleep -> torch.distributed -> everyone");
        assertThat(rows(gloo(true), "SELECT who, what, dur_ns FROM critical_path WHERE step = 3"))
                .isEqualTo("""
                        who\twhat\tdur_ns
                        rank 1\tdata wait\t1000000
                        rank 1\tcompute\t4000000
                        rank 1\tasleep\t15000000
                        rank 1\tbackward\t5000000
                        null\ttorch.distributed\t13000000
                        everyone\toptimizer\t2000000""");
    }

    @Test
    void aRankWhoseNumberIsNotKnownIsNamedByItsProcess() {
        assertThat(rows(gloo(false), "SELECT path FROM critical_steps WHERE step = 3"))
                .isEqualTo("path\npid 101 asleep -> torch.distributed -> everyone");
    }

    @Test
    void aSimulatedJobRestsOnTheRankThatIsLate() {
        Path job = simulated("--simulate=straggler-rank", "--seed=6", "--steps=15", "--ranks=4");
        assertThat(rows(job, "SELECT who, steps, of_steps, cause, worst_path FROM critical_ranks"))
                .isEqualTo("""
                        who\tsteps\tof_steps\tcause\tworst_path
                        rank 0\t13\t13\tpreemption\trank 0 preemption -> all-reduce 7 -> everyone""");
    }

    @Test
    void aJobOfSeveralMachinesRestsOnTheRankThatIsLate() {
        Path job = simulated("--simulate", "--seed=2", "--steps=15", "--ranks=6", "--per-node=2", "--cause=straggler-rank@rank=3");
        assertThat(rows(job, "SELECT recording, who, steps, of_steps, cause FROM critical_ranks"))
                .isEqualTo("""
                        recording\twho\tsteps\tof_steps\tcause
                        1\trank 3\t14\t14\tpreemption""");
    }

    private Path simulated(String... options) {
        Path job = folder.resolve(options.length > 4 ? "job" : "run.parquet");
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("--quiet", "-o", job.toString()));
        assertThat(Record.run(arguments.toArray(String[]::new))).isZero();
        return job;
    }

    /// Steps of 33 ms with two all-reduces, for each of which all ranks wait.
    ///
    /// @param ranks that are recorded
    /// @param nranks of the job
    private static RecordingFixture nccl(int ranks, int nranks, Late... late) {
        RecordingFixture job = recording();
        double at = 0;
        for (int step = 1; step <= STEPS; step++) {
            double data = 0;
            double compute = 0;
            for (Late one : late) {
                data = Math.max(data, one.step == step ? one.data : 0);
                compute = Math.max(compute, one.step == step ? one.compute : 0);
            }
            for (int rank = 0; rank < ranks; rank++) {
                double ownData = 0;
                double ownCompute = 0;
                for (Late one : late) {
                    ownData += one.step == step && one.rank == rank ? one.data : 0;
                    ownCompute += one.step == step && one.rank == rank ? one.compute : 0;
                }
                job.on(100 + rank, 100 + rank, "python3").region(NEXT, at, 1 + ownData);
                allReduce(job, rank, nranks, 2 * step - 2, at + 2 + ownData);
                job.sync(at + 2.5 + ownData, 0.5 + data - ownData);
                double backward = at + 5 + data;
                job.backward(backward, 18 + ownCompute);
                allReduce(job, rank, nranks, 2 * step - 1, backward + 18 + ownCompute);
                double waits = backward + 18.5 + ownCompute;
                job.sync(waits, 2.5 + compute - ownCompute).region(STEP, backward + 21 + compute, 7);
            }
            at += 33 + data + compute;
        }
        return job;
    }

    private static void allReduce(RecordingFixture job, int rank, int nranks, int number, double at) {
        job.event("nccl", "ncclAllReduce", at, 0.5, "status = 0, depth = 0, op = 'sum', dtype = 'float32', count = 1000, "
                + "communicator = 500, comm_id = 77, nranks = " + nranks + ", rank = " + rank + ", seq = " + number);
    }

    /// Two ranks that wait for each other in torch.distributed; rank 1 sleeps for 15 ms of each step.
    private static RecordingFixture gloo(boolean known) {
        String rank = known ? ",\"environment\":{\"RANK\":\"%d\",\"WORLD_SIZE\":\"2\",\"MASTER_ADDR\":\"a\",\"MASTER_PORT\":\"1\"}" : "";
        RecordingFixture job = recording().footer("zernel.processes",
                "[{\"pid\":100,\"ppid\":99" + rank.formatted(0) + "},{\"pid\":101,\"ppid\":99" + rank.formatted(1) + "}]");
        for (int process = 0; process < 2; process++) {
            double sleep = process == 1 ? 15 : 0;
            job.on(100 + process, 100 + process, "python3");
            for (int step = 0; step < STEPS; step++) {
                double at = step * 40;
                job.region(NEXT, at, 1).region("DistributedDataParallel.forward", at + 1, 4 + sleep);
                if (sleep > 0) {
                    job.event("sched", "off-cpu", at + 2, sleep, "state = 'sleeping', runq_ns = 0");
                }
                job.backward(at + 5 + sleep, 33 - sleep)
                        .event("dist_wait", "Reducer::finalize_backward", at + 10 + sleep, 28 - sleep, "depth = 0")
                        .region(STEP, at + 38, 2);
            }
        }
        return job;
    }

    private String rows(RecordingFixture job, String sql) {
        return rows(job.write(folder.resolve("run.parquet")), sql);
    }

    private static String rows(Path job, String sql) {
        try (Database database = Recordings.open(job.toString())) {
            return database.query(sql).toString();
        }
    }
}
