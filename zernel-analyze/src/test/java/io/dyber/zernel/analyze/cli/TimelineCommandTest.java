package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TimelineCommandTest {
    @TempDir
    Path folder;

    @Test
    void aColumnIsThePhaseWithTheMostTime() {
        // Two steps of 50 ms in 60 - 18 columns of 2.38 ms: 15 data, 30 compute, 5 optimizer.
        String file = write(recording().training(2, 15).gpuSample("utilization", 10, 50, "percent")
                .footer("zernel.processes", "[{\"pid\":100,\"environment\":{\"RANK\":\"3\"}}]"));
        assertThat(Outcome.of("timeline", "--width", "60", "--color", "never", file).out()).startsWith("""
                rank 3 pid 100    DDDDDDGGGGGGGGGGGGGOODDDDDDGGGGGGGGGGGGGOO
                                                      |                    |
                """).contains("0 ns").contains("100 ms\n\nD DataLoading  G GpuCompute  N NcclCollective  O OptimizerStep  . Unknown  | a step ends, 2 to 9 or + several do\n")
                .containsPattern("(?m)^GPU 0 busy        [▄4]{5}$");
    }

    @Test
    void aSampleOfAGpuFillsTheTimeBeforeItButNoLongerGap() {
        String file = write(recording().training(120, 15).gpuSample("utilization", 990, 100, "percent")
                .gpuSample("utilization", 1990, 50, "percent").gpuSample("utilization", 5990, 100, "percent"));
        assertThat(Outcome.of("timeline", "--width", "66", "--color", "never", file).out())
                .containsPattern("(?m)^GPU 0 busy        [█8]{8}[▄4]{8} {23}[█8]{9}$");
    }

    @Test
    void itIsCutToTheTimeAsked() {
        String file = write(recording().training(2, 15));
        assertThat(Outcome.of("timeline", "--width", "60", "--from", "0.05", "--to", "0.065", file).out())
                .startsWith("pid 100           " + "D".repeat(42) + "\n");
        assertThat(Outcome.of("timeline", "--from", "2", "--to", "1", file).status()).isEqualTo(2);
        assertThat(Outcome.of("timeline", "--from", "5", "--to", "6", file).out())
                .isEqualTo("no training thread and no GPU was seen in this time\n");
    }

    @Test
    void theTableHasAllTimeOfEachBucket() {
        String file = write(recording().training(2, 15));
        String csv = Outcome.of("timeline", "--width", "60", "--from", "0", "--to", "0.042", "--csv", file).out();
        assertThat(csv.lines()).hasSize(43).element(0).asString().startsWith("recording,pid,tid,device,bucket,start_ns,phase,");
        assertThat(csv.lines()).element(16).isEqualTo("0,100,100,,15,1800000000015000000,GpuCompute,0,1000000,0,0,0,0,");
    }

    private String write(RecordingFixture fixture) {
        return fixture.write(folder.resolve("run.parquet")).toString();
    }
}
