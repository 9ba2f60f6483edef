package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StacksCommandTest {
    private static final String MAIN = "<module> (/me/train.py:120);";

    @TempDir
    Path folder;

    private String file = "";

    /// A training that waits for the GPU in two lines and for storage in one; its logger is idle but for one sample.
    @BeforeEach
    void record() {
        RecordingFixture fixture = recording().training(6, 15);
        for (int i = 0; i < 6; i++) {
            fixture.blocked("cuda_sync", "cudaStreamSynchronize", i * 50 + 16, 4, MAIN + "log_loss (/me/train.py:88);item (/v/site-packages/torch/t.py:1)", "depth = 0");
        }
        fixture.blocked("cuda_sync", "cudaStreamSynchronize", 22, 2, MAIN + "evaluate (/me/train.py:90)", "depth = 0")
                .blocked("io", "read", 60, 4, MAIN + "load (/me/data.py:7)")
                .on(100, 101, "logger").blocked("wait", "futex", 0, 300, "log (/me/log.py:5)").sample(310, "log (/me/log.py:6)");
        file = fixture.write(folder.resolve("run.parquet")).toString();
    }

    @Test
    void twoRecordingsAreFoldedWithTheTimePerStepOfBoth() {
        // Of the steps after warm-up: it evaluates in the first one, and logs after the last.
        assertThat(lines("diff", "--folded", file)).containsExactly(
                "<module> (/me/train.py);load (/me/data.py) 800000 800000",
                "<module> (/me/train.py);log_loss (/me/train.py);item (/v/site-packages/torch/t.py) 4000000 4000000");
    }

    @Test
    void linesOfTrainingStepsAreListedMostTimeFirst() {
        assertThat(lines("stacks", "--width", "120")).containsExactly(
                " share    total  count  state    kind       line                  calls",
                "83.3 %  20.0 ms      5  gpu      cuda_sync  train.py:88 log_loss  item",
                "16.7 %  4.00 ms      1  storage  io         data.py:7 load        read");
        assertThat(csv("--by", "state")).containsExactly(
                "share,total_ns,count,state", "0.8333333333333334,20000000,5,gpu", "0.16666666666666666,4000000,1,storage");
    }

    @Test
    void ofARecordingWithoutTrainingStepsAllOfTheTimeIsListed() {
        file = recording().blocked("io", "read", 60, 4, MAIN + "load (/me/data.py:7)").write(folder.resolve("none.parquet")).toString();
        assertThat(csv()).containsExactly(
                "share,total_ns,count,state,kind,line,calls", "1.0,4000000,1,storage,io,data.py:7 load,read");
    }

    /// A thread of a pool, or of a program without any code of the user's own.
    @Test
    void ofARecordingWithoutTrainingThreadsThatWaitInNoOwnCodeAreIdle() {
        RecordingFixture native_ = recording().on(100, 101, "pool").blocked("wait", "futex", 0, 300, "start_thread (libc.so.6)");
        file = native_.write(folder.resolve("native.parquet")).toString();
        assertThat(csv()).last().isEqualTo("1.0,300000000,1,thread,wait,start_thread (libc.so.6),futex");
        RecordingFixture both = native_.on(100, 100, "python3").blocked("wait", "recvfrom", 60, 4, MAIN + "ask (/me/serve.py:7)", "object = 'socket:[7]'");
        file = both.write(folder.resolve("both.parquet")).toString();
        assertThat(csv()).last().isEqualTo("1.0,4000000,1,socket,wait,serve.py:7 ask,recvfrom");
        assertThat(csv("--idle")).hasSize(3);
    }

    @Test
    void linesOfAllOfTheTimeAreListedMostTimeFirst() {
        assertThat(lines("stacks", "--all", "--width", "120")).containsExactly(
                " share    total  count  state    kind       line                  calls",
                "48.0 %  24.0 ms      6  gpu      cuda_sync  train.py:88 log_loss  item",
                "40.0 %  20.0 ms      1  on-cpu   sample     log.py:6 log          -",
                " 8.0 %  4.00 ms      1  storage  io         data.py:7 load        read",
                " 4.0 %  2.00 ms      1  gpu      cuda_sync  train.py:90 evaluate  cudaStreamSynchronize");
    }

    @Test
    void timeIsCountedTogetherByWhatIsAskedFor() {
        assertThat(csv("--all", "--by", "state")).containsExactly(
                "share,total_ns,count,state", "0.52,26000000,7,gpu", "0.4,20000000,1,on-cpu", "0.08,4000000,1,storage");
        assertThat(csv("--all", "--by", "kind", "--top", "1")).containsExactly(
                "share,total_ns,count,kind,name,state", "0.52,26000000,7,cuda_sync,cudaStreamSynchronize,gpu");
        assertThat(csv("--all", "--by", "thread")).containsExactly(
                "share,total_ns,count,recording,pid,tid,role,line",
                "0.6,30000000,8,0,100,100,training,train.py:88 log_loss",
                "0.4,20000000,1,0,100,101,training,log.py:6 log");
        assertThat(csv("--by", "step", "--kind", "io,cuda_sync", "--top", "2")).containsExactly(
                "share,total_ns,count,recording,pid,step,step_kind,line",
                "0.26666666666666666,8000000,2,0,100,2,train,train.py:88 log_loss",
                "0.2,6000000,2,0,100,1,warmup,train.py:88 log_loss");
    }

    @Test
    void kindsProcessesAndIdleThreadsAreChosen() {
        assertThat(csv("--kind", "io")).containsExactly(
                "share,total_ns,count,state,kind,line,calls", "1.0,4000000,1,storage,io,data.py:7 load,read");
        assertThat(csv("--pid", "7")).containsExactly("share,total_ns,count,state,kind,line,calls");
        assertThat(csv("--all", "--idle", "--top", "1").getLast()).endsWith(",300000000,1,thread,wait,log.py:5 log,futex");
        assertThat(Outcome.of("stacks", "--kind", "odd", file).err()).contains("selecting 'odd': no such kind of event");
    }

    @Test
    void foldedStacksAreAsFlameGraphsWantThem() {
        assertThat(lines("stacks", "--folded", "--kind", "io")).containsExactly(
                "python3 (100);python3 (100);<module> (/me/train.py:120);load (/me/data.py:7) 4000000");
        assertThat(Outcome.of("stacks", "--folded", "--csv", file).status()).isEqualTo(2);
    }

    @Test
    void aRecordingWithoutStacksSaysWhatToDo() {
        String none = recording().training(6, 15).write(folder.resolve("none.parquet")).toString();
        for (String[] options : new String[][] {{"stacks"}, {"stacks", "--folded"}, {"stacks", "--by", "step"}}) {
            List<String> arguments = new ArrayList<>(List.of(options));
            arguments.add(none);
            Outcome outcome = Outcome.of(arguments.toArray(String[]::new));
            assertThat(outcome.status()).isZero();
            assertThat(outcome.err()).isEqualTo("no event of the recording has a stack: it was recorded without them, or by an "
                    + "earlier version; zernel-record --stacks 1ms takes them of calls that block for so long\n");
        }
    }

    private List<String> csv(String... options) {
        List<String> arguments = new ArrayList<>(List.of("stacks", "--csv"));
        arguments.addAll(List.of(options));
        return lines(arguments.toArray(String[]::new));
    }

    private List<String> lines(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add(file);
        return Outcome.of(all.toArray(String[]::new)).out().lines().toList();
    }
}
