package io.dyber.zernel.analyze.export;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldedStacksTest {
    @TempDir
    Path folder;

    @Test
    void aStackHasTheTimeOfItsLastCallWithoutThoseInIt() throws IOException {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 2; i++) {
            fixture.region("step;1", 100 * i, 50).region("inner\nloop", 100 * i + 10, 20).io(100 * i + 12, 5, 7);
        }
        assertThat(folded(fixture)).isEqualTo("""
                python3 (100);python3 (100);step,1 60000000
                python3 (100);python3 (100);step,1;inner loop 30000000
                python3 (100);python3 (100);step,1;inner loop;read 10000000
                """);
    }

    @Test
    void onlyWhatTheThreadDoesCounts() throws IOException {
        assertThat(folded(recording().region("a", 0, 10).torchAlloc(1, 8)
                        .event("cuda_launch", "cuLaunchKernel", 2, 4.0, "count = 900").event("io", "io_uring_read", 5, 50.0, "")))
                .isEqualTo("python3 (100);python3 (100);a 10000000\n");
    }

    @Test
    void recordedStacksTakeThePlaceOfCalls() throws IOException {
        RecordingFixture fixture = recording().region("a", 0, 100)
                .blocked("cuda_sync", "cudaStreamSynchronize", 10, 10, "main (/me/a.py:1);f (/me/a.py:2)")
                .blocked("wait", "futex", 12, 5, "main (/me/a.py:1);g (/me/a.py:3)") // inside the sync
                .blocked("cuda_sync", "cudaStreamSynchronize", 30, 3, "main (/me/a.py:1);f (/me/a.py:2)")
                .on(100, 101, "logger").sample(50, "log (/me/a.py:9)");
        assertThat(folded(fixture)).isEqualTo("""
                python3 (100);logger (101);log (/me/a.py:9) 20000000
                python3 (100);python3 (100);main (/me/a.py:1);f (/me/a.py:2) 13000000
                """);
    }

    private String folded(RecordingFixture fixture) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            Selection selection = Selection.of(database, List.of(), List.of(), null, null);
            try (FoldedStacks stacks = new FoldedStacks(out)) {
                long _ = FoldedStacks.write(database, selection, stacks, _ -> {});
            }
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
