package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the command says of jobs that do not use NCCL.
class NcclCommandTest {
    @TempDir
    Path folder;

    @Test
    void aJobWithoutNcclHasItsWaits() {
        RecordingFixture job = recording().footer("zernel.processes", "[{\"pid\":100,\"environment\":{\"RANK\":\"3\"}}]");
        for (double at = 0; at < 500; at += 50) {
            job.region(NEXT, at, 1).backward(at + 5, 40)
                    .event("dist_wait", "Reducer::finalize_backward", at + 10, 30.0, "depth = 0")
                    .region(STEP, at + 45, 5);
        }
        String file = job.write(folder.resolve("run.parquet")).toString();
        Outcome waits = Outcome.of("nccl", "--csv", file);
        assertThat(waits.out()).isEqualTo(
                """
                rank,recording,pid,tid,name,waits,per_step,sum_ns,p50_ns,p99_ns,max_ns
                3,0,100,100,Reducer::finalize_backward,10,1.0,300000000,30000000,30000000,30000000
                """);
        assertThat(waits.err()).isEqualTo("no NCCL calls; waits of torch.distributed:\n");
        assertThat(Outcome.of("report", "--full", file).out()).contains("rank 3 (pid 100)").doesNotContain("0.0 MB are sent");
    }
}
