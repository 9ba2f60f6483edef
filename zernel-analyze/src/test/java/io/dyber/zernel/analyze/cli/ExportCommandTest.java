package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class ExportCommandTest {
    @TempDir
    Path folder;

    private String file = "";

    @BeforeEach
    void record() {
        file = recording().training(3, 15).io(1, 2, 70).on(200, 201, "other").io(1000, 3, 80)
                .write(folder.resolve("run.parquet")).toString();
    }

    @Test
    void aChromeTraceIsCompressedWhenItsNameSaysSo() throws IOException {
        Path trace = folder.resolve("run.json.gz");
        Outcome outcome = Outcome.of("export", "--chrome", "-o", trace.toString(), file);
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err())
                .isEqualTo("wrote " + trace + ": 11 events, " + String.format("%,d", Files.size(trace)) + " bytes\n");
        try (InputStream json = new GZIPInputStream(Files.newInputStream(trace))) {
            assertThat(new JsonMapper().readTree(json).path("traceEvents").size()).isGreaterThan(11);
        }
    }

    @Test
    void nothingIsOverwrittenUnlessForced() throws IOException {
        Path csv = Files.writeString(folder.resolve("precious.csv"), "precious");
        Outcome refused = Outcome.of("export", "--csv", "-o", csv.toString(), file);
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).isEqualTo("zernel-analyze: writing '" + csv + "': it exists already\nhint: -f overwrites it\n");
        assertThat(csv).hasContent("precious");
        assertThat(Outcome.of("export", "--csv", "-f", "-o", csv.toString(), file).status()).isZero();
        assertThat(Files.readAllLines(csv)).hasSize(12);
    }

    @Test
    void whatFailsLeavesNothingBehind() throws IOException {
        Path csv = folder.resolve("out.csv");
        Outcome outcome = Outcome.of("export", "--csv", "--sql", "SELECT nonsense FROM events", "-o", csv.toString(), file);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).startsWith("zernel-analyze: running a query: Binder Error");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(Path::toString)).containsExactly(file);
        }
        assertThat(Outcome.of("export", "--csv", "-o", folder.resolve("no/out.csv").toString(), file).err())
                .startsWith("zernel-analyze: writing '" + folder + "/no/out.csv': there is no folder '");
    }

    @Test
    void eventsAreSelectedByKindProcessAndTime() throws IOException {
        assertThat(csv("--kind", "io", "--columns-of-a-query").status()).isEqualTo(2);
        assertThat(rows("--kind", "io")).hasSize(2);
        assertThat(rows("--kind", "io,backward")).hasSize(5);
        assertThat(rows("--kind", "io", "--kind", "backward", "--pid", "200")).hasSize(1).first().asString()
                .startsWith("io,read,1800000001000000000,3000000,200,201,1,other,");
        // Steps of 50 ms; the second one's __next__ takes 50 to 65 ms, backward 75 to 95 ms.
        assertThat(rows("--kind", "region,backward", "--from", "0.06", "--to", "0.075")).hasSize(1).first().asString()
                .contains("__next__\",1800000000050000000,15000000,");
    }

    @Test
    void anUnknownKindNamesTheKnownOnes() {
        Outcome outcome = csv("--kind", "regoin");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).isEqualTo("""
                zernel-analyze: selecting 'regoin': no such kind of event
                hint: there are backward, io, region
                """);
    }

    @Test
    void queriesAndViewsAreExported() throws IOException {
        assertThat(rows("--view", "steps")).hasSize(3).element(1).asString().startsWith("0,100,100,2,");
        assertThat(rows("--sql", "SELECT count(*) AS n, 'a,b' AS t FROM steps -- all")).containsExactly("3,\"a,b\"");
        assertThat(csv("--view", "steps; DROP").err()).startsWith("zernel-analyze: --view takes a name: steps; DROP\n");
        assertThat(csv("--view", "steps", "--pid", "3").status()).isEqualTo(2);
        assertThat(csv("--from", "2", "--to", "1").err()).startsWith("zernel-analyze: --from must be less than --to\n");
        assertThat(Outcome.of("export", "--chrome", "--view", "steps", file).err())
                .startsWith("zernel-analyze: --sql and --view go with --csv and --parquet\n");
        assertThat(Outcome.of("export", file).status()).isEqualTo(2);
        assertThat(Outcome.of("export", "--csv", "--chrome", file).status()).isEqualTo(2);
    }

    @Test
    void standardOutputTakesTextAndNothingElse() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "io.dyber.zernel.analyze.cli.Analyze",
                        "export", "--csv", "--sql", "SELECT 1 AS one", "-o", "-", file)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("one\n1\n");
        assertThat(process.waitFor()).isZero();
        assertThat(Outcome.of("export", "--parquet", "-o", "-", file).err())
                .startsWith("zernel-analyze: Parquet cannot go to standard output\n");
    }

    private Outcome csv(String... options) {
        List<String> arguments = new java.util.ArrayList<>(List.of("export", "--csv", "-f", "-o", folder.resolve("out.csv").toString()));
        arguments.addAll(List.of(options));
        arguments.add(file);
        return Outcome.of(arguments.toArray(String[]::new));
    }

    private List<String> rows(String... options) throws IOException {
        Outcome outcome = csv(options);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        List<String> lines = Files.readAllLines(folder.resolve("out.csv"));
        assertThat(outcome.err()).contains(": " + (lines.size() - 1) + " rows, ");
        return lines.subList(1, lines.size());
    }
}
