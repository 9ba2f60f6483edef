package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The recorder, or what it records, in a pid namespace of its own, as containers are.
class PidNamespaceIT {
    @TempDir
    private Path directory = Path.of("");

    @BeforeEach
    void needs() {
        Needs.bpf();
        Needs.pidNamespaces();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    private static Recorder nested(Recorder recorder) {
        return recorder.under("unshare", "-pf", "--mount-proc");
    }

    @Test
    void fromInsideOneNothingIsRecordedAndThatIsSaid() {
        Path trace = directory.resolve("trace");
        for (Recorder recorder : new Recorder[] {
            Recorder.recordTo(file(), "--", "touch", trace.toString()),
            Recorder.recordTo(file(), "-p", "1", "-d", "100ms"),
            Recorder.recordTo(file(), "-d", "100ms")
        }) {
            Running.Outcome outcome = nested(recorder).run();
            CommandLineTest.assertOneLine(outcome, "recording from inside pid namespace 40265");
            assertThat(outcome.err().getFirst())
                    .endsWith(": the kernel names processes otherwise than this namespace does");
            assertThat(outcome.err().getLast()).startsWith("hint: run it on the host").contains("--pid=host");
            assertThat(directory).isEmptyDirectory();
        }
    }

    @Test
    void theDoctorSaysSo() {
        Running.Outcome outcome = nested(Recorder.zernelRecord("doctor")).run();
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.out())
                .anyMatch(line -> line.startsWith("NO   processes  inside pid namespace 40265"))
                .endsWith("this machine cannot record yet");
        assertThat(Recorder.zernelRecord("doctor").runWell().out())
                .contains("ok   processes  have the same numbers here as in the kernel");
    }

    @Test
    void aCommandThatEntersOneIsRecordedByTheNumbersOfTheHost() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--probe", Programs.built("libcalls.so") + ":calls_push(number=arg1)")
                .with("--", "unshare", "-pf", "--mount-proc", Programs.built("calls").toString(), "10")
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(5);
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'calls_push'")).isEqualTo(40);
            assertThat(recording.rows("""
                    SELECT DISTINCT pid FROM events WHERE name = 'calls_push'
                    EXCEPT SELECT pid FROM events WHERE name = 'exec' AND path LIKE '%/calls'
                    """)).isEmpty();
            assertThat(recording.number("SELECT min(pid) FROM events WHERE name = 'calls_push'")).isGreaterThan(1);
        }
    }
}
