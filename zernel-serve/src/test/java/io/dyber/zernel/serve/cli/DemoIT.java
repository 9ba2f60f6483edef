package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `zernel demo` without PyTorch, from end to end: what it promises after the first recording, the second one keeps.
@Tag("alone")
@Timeout(600)
final class DemoIT {
    private static final Pattern PROMISE = Pattern.compile("promised at most ([0-9.]+)x; measured ([0-9.]+)x");

    /// What else runs on the machine differs between the two recordings.
    private static final double NOISE = 1.5;

    @TempDir
    private Path folder;

    @Test
    void aSlowJobIsFasterOnceTheAdviceIsTakenAndNotBeyondItsBound() throws Exception {
        needsBpf();
        String out = demo();
        assertThat(out)
                .contains("FOUND   Training waits for data.")
                .contains("all in next_batch")
                .contains("FIXED   each batch is fetched while the one before is computed")
                .contains("SIMULATED: not a real job");
        Matcher promise = PROMISE.matcher(out);
        assertThat(promise.find()).as(out).isTrue();
        double measured = Double.parseDouble(promise.group(2));
        assertThat(measured).as(out).isGreaterThan(1).isLessThan(NOISE * Double.parseDouble(promise.group(1)));
        assertThat(folder).isDirectoryContaining("glob:**/run.parquet")
                .isDirectoryContaining("glob:**/run-fixed.parquet")
                .isDirectoryContaining("glob:**/run-simulated.parquet");
    }

    /// What it and the programs that it starts print.
    private String demo() throws IOException, InterruptedException {
        Path log = folder.resolve("demo.log");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"),
                "io.dyber.zernel.serve.cli.Zernel", "demo", "-o", folder.resolve("run.parquet").toString());
        builder.environment().put("ZERNEL_PYTHON", "/nonexistent/python3");
        builder.environment().remove("ZERNEL_HOME");
        Process demo = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            int code = demo.waitFor();
            String out = Files.readString(log);
            assertThat(code).as(out).isZero();
            return out;
        } finally {
            demo.destroy();
        }
    }

    private static void needsBpf() throws IOException {
        boolean root = Files.readString(Path.of("/proc/self/status")).contains("Uid:\t0\t");
        if (root && Files.isReadable(Path.of("/sys/kernel/btf/vmlinux"))) {
            return;
        }
        String need = "needs root and a kernel with BTF";
        System.out.println("skipped: " + need);
        assertThat(System.getenv("ZERNEL_REQUIRE_BPF")).as(need).isNotEqualTo("1");
        Assumptions.abort(need);
    }
}
