package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Files that no recorder wrote go through Arrow's reader and DuckDB, which is native code. They are opened in a JVM of
/// their own, so that a crash is seen. `-Dzernel.fuzz=N` tries N of them, `-Dzernel.fuzz.seed=N` from that one on.
class HostileFilesTest {
    private static final long COUNT = Long.getLong("zernel.fuzz", 100);
    private static final long SEED = Long.getLong("zernel.fuzz.seed", 0);

    /// A live folder that a recorder left, and the file that was recovered from it.
    private static Path recorded() throws URISyntaxException {
        return Path.of(Objects.requireNonNull(HostileFilesTest.class.getResource("/recorded")).toURI());
    }

    @Test
    void whatTheRecorderWroteIsReadWhole() throws URISyntaxException {
        assertThat(query(recorded().resolve("run.parquet"), "count(*)")).isEqualTo("175");
        assertThat(query(recorded().resolve("run.parquet.live"), "count(*)")).isEqualTo("175");
        for (String column : List.of("sum(ts_ns)", "sum(dur_ns)", "count(path)", "bit_xor(hash(path))", "sum(bytes)")) {
            assertThat(query(recorded().resolve("run.parquet.live"), column))
                    .isEqualTo(query(recorded().resolve("run.parquet"), column));
        }
    }

    private static String query(Path path, String what) {
        try (Database database = Recordings.open(path.toString())) {
            return String.valueOf(database.query("SELECT " + what + " AS x FROM events").only().text("x"));
        }
    }

    @Test
    void damagedFilesGiveRowsOrAnError() throws Exception {
        // Not a TempDir: the file that failed stays.
        Path kept = Files.createTempDirectory("zernel-hostile-");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--"))
                .forEach(command::add);
        command.addAll(List.of(
                "-Xmx192m",
                "-XX:ErrorFile=" + kept.resolve("crash.log"),
                "-cp",
                System.getProperty("java.class.path"),
                HostileFiles.class.getName(),
                kept.toString(),
                recorded().toString(),
                Long.toString(SEED),
                Long.toString(COUNT)));
        Process fuzz = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(fuzz.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(fuzz.waitFor()).as(output).isZero();
        assertThat(output).contains(" rows\n", " damaged: ");
        Files.delete(kept);
    }
}
