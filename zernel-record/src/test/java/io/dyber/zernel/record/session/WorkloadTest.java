package io.dyber.zernel.record.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.HeldCommand;
import io.dyber.zernel.record.option.RecorderException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The command of a recording is held until all is ready, and nothing of it is left when it never runs.
class WorkloadTest {
    private static final long PATIENCE_MILLIS = 60_000;

    @TempDir
    private Path directory = Path.of("");

    private Path trace() {
        return directory.resolve("trace");
    }

    private Workload started(String... command) {
        return Workload.start(List.of(command), Optional.empty());
    }

    private static void awaitEnd(Workload workload) throws InterruptedException {
        long deadline = System.currentTimeMillis() + PATIENCE_MILLIS;
        while (workload.isAlive()) {
            assertThat(System.currentTimeMillis()).as("the command still runs").isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    @Test
    void aCommandRunsWhenItIsResumed() throws InterruptedException {
        Workload workload = started("touch", trace().toString());
        assertThat(workload.isAlive()).isTrue();
        assertThat(trace()).doesNotExist();
        workload.resume();
        awaitEnd(workload);
        assertThat(workload.exitStatus()).isZero();
        assertThat(trace()).exists();
    }

    @Test
    void theCommandHasTheLocaleOfTheUserAndNotOurs() {
        Map<String, String> ours = Map.of("LC_ALL", "C.UTF-8", "LANG", "de_DE.UTF-8");

        assertThat(Workload.inUsersLocale(ours, "C")).isEqualTo(Map.of("LC_ALL", "C", "LANG", "de_DE.UTF-8"));
        assertThat(Workload.inUsersLocale(ours, "")).isEqualTo(Map.of("LANG", "de_DE.UTF-8"));
        assertThat(Workload.inUsersLocale(ours, null)).isEqualTo(ours);
    }

    @Test
    void theCommandIsTheProcessThatWasHeld() throws IOException, InterruptedException {
        Workload workload = started("/bin/sh", "-c", "echo $$ > \"$0\"", trace().toString());
        workload.resume();
        awaitEnd(workload);
        assertThat(trace()).hasContent(workload.pid() + "\n");
    }

    @Test
    void theCommandHasNoFilesOpenThatItWouldNotHaveHad() throws InterruptedException {
        Workload workload = started("/bin/sh", "-c", "exec > \"$0\"; ls /proc/$$/fd", trace().toString());
        workload.resume();
        awaitEnd(workload);
        assertThat(trace()).hasContent("0\n1\n2\n");
    }

    @Test
    void whatIsHeldIsKnownByWhatItIsAboutToRun() throws IOException {
        Workload workload = started("touch", trace().toString());
        String words = Files.readString(Path.of("/proc/" + workload.pid() + "/cmdline"));
        assertThat(Workload.withoutGate(List.of(words.split("\0")))).containsExactly("touch", trace().toString());
        assertThat(Workload.withoutGate(List.of("/bin/sh", "-c", "true"))).containsExactly("/bin/sh", "-c", "true");
        workload.terminate();
    }

    @Test
    void aCommandThatIsNeverResumedNeverRuns() throws InterruptedException {
        Workload workload = started("touch", trace().toString());
        workload.terminate();
        awaitEnd(workload);
        assertThat(trace()).doesNotExist();
    }

    @Test
    void aCommandThatIsNotThereIsSaid() {
        assertThatThrownBy(() -> started("no-such-command-of-zernel"))
                .isInstanceOf(RecorderException.class)
                .hasMessage("starting 'no-such-command-of-zernel': no such command");
    }

    @Test
    void nothingIsLeftOfACommandWhoseRecorderWasKilled() throws IOException, InterruptedException {
        Process recorder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HeldCommand.class.getName(),
                        "touch",
                        trace().toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = recorder.inputReader()) {
            ProcessHandle held = ProcessHandle.of(Long.parseLong(out.readLine())).orElseThrow();
            recorder.destroyForcibly().waitFor();
            long deadline = System.currentTimeMillis() + PATIENCE_MILLIS;
            while (held.isAlive()) {
                assertThat(System.currentTimeMillis()).as("the held command is left").isLessThan(deadline);
                Thread.sleep(5);
            }
        }
        assertThat(trace()).doesNotExist();
    }
}
