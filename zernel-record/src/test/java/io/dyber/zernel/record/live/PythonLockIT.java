package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.python.Pythons;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/// Where the lock of an interpreter (GIL) is, in each CPython at hand.
class PythonLockIT {
    /// Two threads compute and so wait for Python's lock, two hand a lock of the program's own to each other.
    private static final String PROGRAM = """
            import os, sys, threading, time
            end = time.monotonic() + 1
            def compute():
                while time.monotonic() < end: sum(range(1000))
            def hand_over(mine, other):
                while time.monotonic() < end:
                    mine.acquire()
                    time.sleep(0.002)
                    other.release()
            a, b = threading.Lock(), threading.Lock()
            b.acquire()
            threads = [threading.Thread(target=compute) for _ in range(2)]
            threads += [threading.Thread(target=hand_over, args=locks) for locks in ((a, b), (b, a))]
            for thread in threads: thread.start()
            time.sleep(1.1)
            print("GIL:", getattr(sys, "_is_gil_enabled", lambda: True)(), flush=True)
            os._exit(0)
            """;

    @TempDir
    private Path directory = Path.of("");

    static List<Path> pythons() throws IOException {
        return Pythons.all();
    }

    @ParameterizedTest
    @MethodSource("pythons")
    void waitsForItAreOnAFutexInTheInterpretersState(Path python) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        Running.Outcome outcome = Recorder.recordTo(file, "--kinds", "wait,process")
                .with("--", python.toString(), "-c", PROGRAM)
                .runWell();
        try (Recording recording = Recording.open(file)) {
            JsonNode interpreter = recording.footer("zernel.stacks").path("pythons").path(0);
            assertThat(interpreter.path("runtimes").valueStream()).as(interpreter.toString()).hasSize(1);
            long from = interpreter.path("runtimes").path(0).path("address").asLong();
            long until = from + interpreter.path("runtimes").path(0).path("bytes").asLong();
            String waits = "SELECT count(*) FROM events WHERE kind = 'wait' AND name = 'futex'";
            String inside = " AND addr >= " + from + " AND addr < " + until;
            // Who waits for the lock asks for it after 5 ms.
            String asking = " AND status = -110";
            long asked = recording.number(waits + asking + inside);
            if (outcome.out().contains("GIL: True")) {
                assertThat(asked).isGreaterThan(20);
            }
            assertThat(recording.number(waits + asking)).isEqualTo(asked);
            assertThat(recording.number(waits) - recording.number(waits + inside)).isGreaterThan(20);
        }
    }
}
