package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.SimpleFileServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a user of JBang types, with our catalog added as `dyber`.
@Timeout(240)
final class JBangIT {
    @TempDir
    private static Path home;

    @SuppressWarnings("NullAway.Init")
    private static JBang jbang;

    private static Path recording = Path.of("");

    @BeforeAll
    static void addTheCatalogAndRecord() throws Exception {
        jbang = new JBang(home.resolve("jbang"), MavenRepository.filled()).add(JBang.CATALOG.toString());
        recording = home.resolve("run.parquet");
        run("zernel@dyber", "record", "--simulate=data-bound-cpu", "--steps", "60", "-o", recording.toString());
    }

    @Test
    void theUmbrellaServesARecording() throws Exception {
        Process serve = jbang.executing("zernel@dyber", "serve", "--metrics-port", "0", "--ws-port", "0", recording.toString())
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
        assertThat(run("gate@dyber", recording.toString(), recording.toString())).startsWith("kept ");
    }

    /// As from the web: a host on loopback would be trusted, so this one has a name, which only this JBang knows.
    @Test
    void aCatalogOfAWebServerLeadsToItsScriptsWhichWantTrust() throws Exception {
        Path checkout = JBang.CATALOG.resolveSibling("");
        HttpServer server = SimpleFileServer.createFileServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), checkout, SimpleFileServer.OutputLevel.NONE);
        server.start();
        try {
            String site = "http://dyber.example:" + server.getAddress().getPort() + "/";
            Path hosts = Files.writeString(home.resolve("hosts"), "127.0.0.1 dyber.example\n");
            JBang web = new JBang(home.resolve("web"), jbang.repository(), List.of("-Djdk.net.hosts.file=" + hosts))
                    .add(site + "jbang-catalog.json");
            assertThat(run(web, "zernel-analyze@dyber", "--version")).startsWith("zernel-analyze ");

            Process wary = web.started("data-wait@dyber", recording.toString()).start();
            assertThat(new String(wary.getErrorStream().readAllBytes(), StandardCharsets.UTF_8)).contains("not from a trusted source");
            assertThat(web.says("trust", "add", site)).isEmpty();
            assertThat(run(web, "data-wait@dyber", recording.toString())).contains("waits");

            for (String alias : List.of("post-finding", "top-finding")) {
                assertThat(web.says("info", "tools", alias + "@dyber")).contains("zernel-analyze-");
            }
        } finally {
            server.stop(0);
        }
    }

    private static String run(String... arguments) throws IOException, InterruptedException {
        return run(jbang, arguments);
    }

    private static String run(JBang jbang, String... arguments) throws IOException, InterruptedException {
        Process process = jbang.executing(arguments).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(String.join(" ", arguments) + "\n" + output).isZero();
        return output;
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
