package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a user of JBang types, with our catalog added as `dyber`.
@Timeout(240)
final class JBangIT {
    private static final Path JBANG = Path.of("target/programs/jbang-cli-all.jar");
    private static final Path CATALOG = Path.of("../jbang-catalog.json").toAbsolutePath().normalize();
    private static final int EXECUTE = 255;

    @TempDir
    private static Path home;

    private static Path repository = Path.of("");
    private static Path recording = Path.of("");

    @BeforeAll
    static void addTheCatalogAndRecord() throws Exception {
        repository = MavenRepository.filled();
        assertThat(jbang("catalog", "add", "--global", "--name", "dyber", CATALOG.toString())).isEmpty();
        recording = home.resolve("run.parquet");
        run("zernel@dyber", "record", "--simulate=data-bound-cpu", "--steps", "60", "-o", recording.toString());
    }

    @Test
    void theUmbrellaServesARecording() throws Exception {
        Process serve = executing("zernel@dyber", "serve", "--metrics-port", "0", "--ws-port", "0", recording.toString())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(get(page(serve) + "metrics")).contains("zernel_");
        } finally {
            serve.destroy();
            int _ = serve.waitFor();
        }
    }

    @Test
    void theUmbrellaAnalyzes() throws Exception {
        String sql = "SELECT max(pid) > 0 AS ok FROM steps";
        assertThat(run("zernel@dyber", "analyze", "sql", "--csv", recording.toString(), sql))
                .isEqualTo("ok\ntrue\n");
    }

    @Test
    void theCommandsHaveAliasesOfTheirOwn() throws Exception {
        assertThat(run("zernel-analyze@dyber", "report", recording.toString())).contains("raining waits for data");
        assertThat(run("zernel-serve@dyber", "--help")).contains("zernel serve").contains("--metrics-port");
    }

    @Test
    void theExamplesHaveAliases() throws Exception {
        assertThat(run("data-wait@dyber", recording.toString())).contains("waits");
        assertThat(run("gate@dyber", recording.toString(), recording.toString())).startsWith("fine ");
        assertThat(jbang("info", "tools", "post-finding@dyber")).contains("PostFinding.java");
        assertThat(jbang("info", "tools", "top-finding@dyber")).contains("TopFinding.java");
    }

    private static String run(String... arguments) throws IOException, InterruptedException {
        Process process = executing(arguments).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(String.join(" ", arguments) + "\n" + output).isZero();
        return output;
    }

    /// What JBang says is to be executed, as the script `jbang` does.
    private static ProcessBuilder executing(String... arguments) throws IOException, InterruptedException {
        return processOf(List.of("sh", "-c", "exec " + jbang(arguments)));
    }

    private static String jbang(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(java(), "-XX:TieredStopAtLevel=1", "-jar", JBANG.toString()));
        command.addAll(List.of(arguments));
        Process process = processOf(command).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(String.join(" ", arguments) + "\n" + output).isIn(0, EXECUTE);
        return output;
    }

    private static ProcessBuilder processOf(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(Map.of(
                "JAVA_HOME", System.getProperty("java.home"),
                "JBANG_DIR", home.resolve("jbang").toString(),
                "JBANG_REPO", repository.toString(),
                "JBANG_NO_VERSION_CHECK", "1",
                "JBANG_RUNTIME_SHELL", "bash",
                "JBANG_STDIN_NOTTY", "true"));
        // No installed Zernel answers instead of the jars.
        builder.environment().remove("ZERNEL_HOME");
        return builder;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /// The address that the server prints.
    private static String page(Process serve) throws IOException {
        Pattern address = Pattern.compile("http://localhost:[0-9]+/");
        BufferedReader lines = serve.inputReader(StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher found = address.matcher(line);
            if (found.find()) {
                return found.group();
            }
        }
        throw new AssertionError("the server ended without naming its address");
    }

    private static String get(String address) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString()).body();
        }
    }
}
