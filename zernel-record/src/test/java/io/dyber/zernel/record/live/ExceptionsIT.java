package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Probed functions that are left otherwise than by returning: the job goes on as it would without a recorder.
class ExceptionsIT {
    @TempDir
    private Path directory = Path.of("");

    private Path file = Path.of("");

    @BeforeEach
    void needs() {
        Needs.bpf();
        file = directory.resolve("run.parquet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"best", "multi", "perf"})
    void aProgramCatchesWhatBackwardAndOperatorsThrow(String backend) {
        Recorder recorder = Recorder.recordTo(file, "--probe", "torch_op:aten::mm")
                .with(backend.equals("best") ? new String[0] : new String[] {"--backend", backend})
                .with("--", Needs.python("torch"), Programs.source("caught.py"));

        assertThat(recorder.runWell().out()).contains("caught 20");

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("""
                    SELECT kind, count(dur_ns) FROM events WHERE kind IN ('backward', 'torch_op') AND name != 'aten::mm_out'
                    GROUP BY kind ORDER BY kind""")).containsExactly("backward 10", "torch_op 10");
            assertThat(recording.number(
                            "SELECT count(*) FROM events WHERE kind IN ('backward', 'torch_op') AND dur_ns > 1e9"))
                    .isZero();
        }
    }

    @Test
    void functionsThatReturnTwiceAreLeftAlone() {
        Recorder recorder = Recorder.recordTo(file)
                .with("--probe", "libc.so.6:*setjmp*", "--probe", "libc.so.6:getcontext", "--probe", "libc.so.6:puts")
                .with("--", Programs.built("twice").toString());

        assertThat(recorder.runWell().out()).contains("went on");

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("SELECT name, count(*) FROM events WHERE kind = 'call' GROUP BY name"))
                    .containsExactly("puts 1");
            assertThat(recording.footer("zernel.probes").valueStream()
                            .filter(probe -> probe.path("symbol").asString().equals("getcontext"))
                            .map(probe -> probe.path("why").asString()))
                    .containsExactly("it returns twice, and a probe of its return would end the process");
        }
    }
}
