package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.Ports;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class ZernelTest {
    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void aloneItSaysHowToMakeAFirstRecording() {
        assertThat(run()).isZero();
        assertThat(out.toString()).contains("sudo zernel demo").contains("zernel analyze report run.parquet");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void anUnknownCommandIsAMistakeOfUsage() {
        assertThat(run("sevre")).isEqualTo(2);
        assertThat(err.toString()).contains("serve");
    }

    @Test
    void servingNothingSaysWhatIsMissing() {
        Path missing = folder.resolve("no.parquet");
        assertThat(run("serve", missing.toString())).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("zernel serve: opening '" + missing + "': no such file")
                .contains("hint: ")
                .doesNotContain("\tat ");
    }

    @Test
    void servingWhatIsNoRecordingIsOneLine() throws IOException {
        Path text = Files.writeString(folder.resolve("a.parquet"), "hello, this is not a Parquet file at all");
        assertThat(run("serve", text.toString())).isEqualTo(1);
        assertThat(err.toString()).startsWith("zernel serve: opening '" + text + "'").doesNotContain("\tat ");
    }

    @Test
    void lettingAnAgentAskNothingSaysWhatIsMissing() {
        Path missing = folder.resolve("no.parquet");
        assertThat(run("mcp", missing.toString())).isEqualTo(1);
        assertThat(err.toString()).startsWith("zernel mcp: opening '" + missing + "': no such file").doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aSpeedThatIsNoneIsAMistakeOfUsage() {
        assertThat(run("serve", "run.parquet", "--speed", "fast")).isEqualTo(2);
        assertThat(err.toString()).contains("'fast' is not a speed: say 1x, 10x, 0.5x or max");
    }

    @Test
    void aReplayCanEndWithItsRecording() {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 5);
        assertThat(run("serve", file.toString(), "--speed", "max", "--exit-at-end", "--metrics-port", "0", "--ws-port",
                        "0"))
                .isZero();
        assertThat(err.toString())
                .contains("Replaying at max " + file)
                .containsPattern("Prometheus  http://localhost:[0-9]+/metrics")
                .endsWith("zernel serve: the replay has ended\n");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aPortInUseIsOneLineAndAHint() throws IOException {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 5);
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(run("serve", file.toString(), "--ws-port", "0", "--metrics-port", "" + taken.getLocalPort()))
                    .isEqualTo(1);
        }
        assertThat(err.toString())
                .contains("zernel serve: listening on 127.0.0.1 port ")
                .contains("Address already in use")
                .endsWith("hint: choose another with --metrics-port\n");
    }

    @Test
    void watchingNobodySaysHowToStartAServer() {
        int free = Ports.free();
        assertThat(run("watch", "--once", "--host", "127.0.0.1", "--port", "" + free)).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("zernel watch: watching 'ws://127.0.0.1:" + free
                + "': nothing listens there\nhint: start a server: zernel serve run.parquet\n");
    }

    private int run(String... arguments) {
        return Zernel.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
