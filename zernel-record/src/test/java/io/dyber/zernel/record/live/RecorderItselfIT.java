package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The recorder started by a process that it records.
class RecorderItselfIT {
    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void theRecorderIsNotRecordedWhenItsParentIs() {
        Path file = directory.resolve("run.parquet");
        Running.Outcome outcome = Recorder.recordTo(file, "-d", "1s")
                .under("sh", "-c", "echo $$; \"$@\" -p $$; echo done", "sh")
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        String parent = outcome.out().getFirst();
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("SELECT DISTINCT pid FROM events WHERE kind <> 'lost' AND pid IS NOT NULL")).containsExactly(parent);
            assertThat(recording.footer("zernel.processes").size()).isEqualTo(1);
        }
    }
}
