package io.dyber.zernel.analyze.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A trace is read with little memory, however large it is: `-Dzernel.trace.mb=200`.
class LargeTraceTest {
    private static final long BYTES = Long.getLong("zernel.trace.mb", 10) << 20;

    @TempDir
    Path folder;

    /// Run in a small JVM: prints how many activities a trace has, and how long the GPU was busy.
    static final class Reader {
        private Reader() {}

        public static void main(String[] files) {
            DatabaseOptions options = DatabaseOptions.defaults().withMemoryLimit("256MB");
            try (Database database = Recordings.open(List.of(files), options)) {
                System.out.print(database.query("SELECT activities, skipped, busy_ns FROM gpu_traces, gpu_time"));
            }
        }
    }

    @Test
    void memoryDoesNotGrowWithTheTrace() throws IOException, InterruptedException {
        Path run = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        Path trace = folder.resolve("trace.json");
        long kernels = write(trace);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--"))
                .forEach(command::add);
        command.addAll(List.of(
                "-Xmx64m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), Reader.class.getName(),
                run.toString(), trace.toString()));
        Process reader = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(reader.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output).isEqualTo("activities\tskipped\tbusy_ns\n" + kernels + "\t0\t" + kernels * 5000);
        assertThat(reader.waitFor()).isZero();
    }

    /// Kernels of 5 us each, one after another, each with its call and as much again that does not matter.
    private static long write(Path trace) throws IOException {
        String name = "void at::native::vectorized_elementwise_kernel<4, " + "at::native::Functor, ".repeat(20) + "%d>()";
        long written = 0;
        long kernels = 0;
        try (BufferedWriter out = Files.newBufferedWriter(trace)) {
            out.write("{\"baseTimeNanoseconds\": 1800000000000000000, \"traceEvents\": [\n");
            while (written < BYTES) {
                long at = 10 * kernels;
                String event =
                        """
                        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100, "ts": %d.125,
                        "dur": 4.5, "args": {"External id": 7, "cbid": 211, "correlation": %d}},
                        {"ph": "X", "cat": "python_function", "name": "train.py(7): step", "pid": 100, "tid": 100, "ts": %d.0,
                        "dur": 9.0, "args": {"Python parent id": null, "Call stack": "%s"}},
                        {"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %d.250, "dur": 5,
                        "args": {"device": 0, "stream": 7, "correlation": %d, "grid": [8, 1, 1], "block": [128, 1, 1]}},
                        """
                                .formatted(at, kernels, at, "frame;".repeat(50), name.formatted(kernels % 300), at + 4, kernels);
                out.write(event);
                written += event.length();
                kernels++;
            }
            out.write("{\"ph\": \"i\", \"name\": \"Record Window End\"}]}");
        }
        return kernels;
    }
}
