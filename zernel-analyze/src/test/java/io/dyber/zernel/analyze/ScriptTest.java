package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// The example scripts of the Java API run as they are. JBang runs them in `JBangIT`.
class ScriptTest {
    private static final Path EXAMPLES = Path.of("examples");

    /// How a script ended, and what it printed.
    private record Run(int status, String output) {}

    @TempDir
    Path folder;

    @Test
    void dataWaitSaysHowLongTrainingWaits() throws Exception {
        Run run = run("DataWait.java", recording("run", 15).toString());
        assertThat(run.output()).endsWith("pid 100 waits 15.0 ms of each step\n");
        assertThat(run.status()).isZero();
    }

    @Test
    void theGateIsOpenForTheSameRecordingAndClosedForASlowerOne() throws Exception {
        Path before = recording("before", 15);
        assertThat(run("Gate.java", before.toString(), before.toString()).status()).isZero();
        Run slower = run("Gate.java", before.toString(), recording("after", 25).toString());
        assertThat(slower.output())
                .contains("BROKEN  data_loading_mean > +2ms: data_loading_mean 15.000 ms before, 25.000 ms after");
        assertThat(slower.status()).isEqualTo(3);
    }

    @Test
    void theFirstFindingIsPostedAsText() throws Exception {
        BlockingQueue<String> posted = new LinkedBlockingQueue<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/hook", exchange -> {
            posted.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try {
            String hook = "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
            Run run = run("PostFinding.java", recording("run", 15).toString(), hook);
            assertThat(run).isEqualTo(new Run(0, "posted to 127.0.0.1: status 204\n"));
        } finally {
            server.stop(0);
        }
        assertThat(JsonMapper.shared().readTree(posted.remove()).path("text").stringValue())
                .contains("pid 100: ")
                .contains("\nTry: ");
    }

    @Test
    void scriptsCatalogAndPagesNameThisVersion() throws Exception {
        Pattern version = Pattern.compile("<version>([^<]+)</version>");
        String ours = version.matcher(Files.readString(Path.of("../pom.xml"))).results().findFirst().orElseThrow().group(1);
        Pattern artifact = Pattern.compile("(?:io\\.dyber\\.zernel:zernel-[a-z]+:|zernel[-_])(\\d+\\.\\d+\\.\\d+(?:-SNAPSHOT)?)");
        for (Path file : files()) {
            List<String> asked = artifact.matcher(Files.readString(file)).results().map(found -> found.group(1)).toList();
            assertThat(asked).as(file.toString()).isNotEmpty().containsOnly(ours);
        }
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> scripts = Files.list(EXAMPLES)) {
            List<String> others = List.of("jbang-catalog.json", "notebooks/5-java.ipynb", "docs/jbang.md", "docs/install.md");
            return Stream.concat(scripts, others.stream().map(Path.of("..")::resolve)).toList();
        }
    }

    private Path recording(String name, int waitMillis) throws IOException {
        return RecordingFixture.recording().training(12, waitMillis).write(folder.resolve(name + ".parquet"));
    }

    private Run run(String script, String... arguments) throws IOException, InterruptedException {
        List<String> command = command(EXAMPLES.resolve(script));
        command.addAll(List.of(arguments));
        Path err = folder.resolve("err");
        Process process = new ProcessBuilder(command).redirectError(err.toFile()).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        assertThat(err).as(output).content().doesNotContain("Exception");
        return new Run(status, output);
    }

    /// The command that runs a script with the JDK alone, on our class path and with the options it names.
    static List<String> command(Path script) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        for (String line : Files.readAllLines(script)) {
            if (line.startsWith("//RUNTIME_OPTIONS ")) {
                command.addAll(List.of(line.substring("//RUNTIME_OPTIONS ".length()).split(" ")));
            }
        }
        command.addAll(List.of("--class-path", System.getProperty("java.class.path"), script.toString()));
        return command;
    }
}
