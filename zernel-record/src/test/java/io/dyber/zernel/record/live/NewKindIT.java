package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The recipe of CONTRIBUTING.md for a new kind that is seen in the kernel, followed with one that does not ship: its
/// `.bpf.c` and its line in `Probes`, and what is said when a part of that is left out.
class NewKindIT {
    private static final String LINE = "Probe.inKernel(\"signal\", \"signals delivered to threads\", \"delivered\"),\n";
    private static final String PLACE = "List<Probe> IN_KERNEL = List.of(\n";
    private static final Path PROBES = Path.of("src/main/java/io/dyber/zernel/record/builtin/Probes.java");
    private static final String TWENTY_SIGNALS =
            "trap : USR1; i=0; while [ $i -lt 20 ]; do kill -USR1 $$; i=$((i + 1)); done";

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
        Needs.clang();
    }

    /// Compiles the object as `make -C bpf` does, into a folder for the class path.
    private Path object(String source) throws IOException {
        Path sources = Files.createDirectories(directory.resolve("bpf"));
        try (Stream<Path> shared = Files.list(Path.of("../bpf"))) {
            for (Path file : shared.filter(path -> path.toString().matches(".*(\\.h|/Makefile)")).toList()) {
                Files.copy(file, sources.resolve(String.valueOf(file.getFileName())));
            }
        }
        Files.writeString(sources.resolve("signal.bpf.c"), source);
        Path classes = directory.resolve("objects");
        Path built = Files.createDirectories(classes.resolve("bpf/x86_64"));
        try (Running make = Running.start(
                "make", "-s", "-C", sources.toString(), "OUT=" + built, built.resolve("signal.bpf.o").toString())) {
            Running.Outcome outcome = make.await();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
        }
        return classes;
    }

    private Path object() throws IOException {
        return object(Files.readString(Path.of(Programs.source("signal.bpf.c"))));
    }

    /// Compiles `Probes` with one line more, into a folder for the class path.
    private Path line(String line) throws IOException {
        String probes = Files.readString(PROBES);
        assertThat(probes).containsOnlyOnce(PLACE);
        Path source = Files.writeString(directory.resolve("Probes.java"), probes.replace(PLACE, PLACE + line));
        Path classes = Files.createDirectories(directory.resolve("classes"));
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, said, said, "-proc:none", "-d", classes.toString(),
                        "-cp", System.getProperty("java.class.path"), source.toString());
        assertThat(status).as(said.toString(StandardCharsets.UTF_8)).isZero();
        return classes;
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    private Running.Outcome record(Path... classes) {
        return Recorder.recordTo(file(), "--kinds", "signal", "--", "sh", "-c", TWENTY_SIGNALS)
                .before(List.of(classes))
                .run();
    }

    private static String state(Recording recording, String kind) {
        JsonNode row = recording.footer("zernel.kinds").valueStream()
                .filter(one -> one.path("kind").asString().equals(kind))
                .findFirst()
                .orElseThrow();
        return row.path("state").asString() + " " + row.path("why").asString();
    }

    @Test
    void anObjectAndALineAreEnough() throws IOException {
        Running.Outcome outcome = record(object(), line(LINE));
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.rows("""
                    SELECT name, signal, dur_ns, count(*) FROM events
                    WHERE kind = 'signal' AND signal = 10 GROUP BY ALL
                    """)).containsExactly("delivered 10 null 20");
            assertThat(state(recording, "signal")).isEqualTo("attached ");
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()).isEmpty();
        }
    }

    @Test
    void anObjectThatTheKernelRefusesLeavesItsKindUnavailable() throws IOException {
        String source = Files.readString(Path.of(Programs.source("signal.bpf.c")));
        Running.Outcome outcome =
                record(object(source.replace("tp_btf/signal_deliver", "tp_btf/no_such_tracepoint")), line(LINE));
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        try (Recording recording = Recording.open(file())) {
            assertThat(state(recording, "signal")).startsWith("unavailable loading BPF object 'signal': ");
            assertThat(state(recording, "process")).isEqualTo("attached ");
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()
                            .map(JsonNode::asString))
                    .singleElement()
                    .asString()
                    .startsWith("kind 'signal' is not there: ");
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'exec' AND path LIKE '%/sh'"))
                    .isPositive();
        }
    }

    @Test
    void aLineWithoutItsObjectIsNamed() throws IOException {
        Running.Outcome outcome = record(line(LINE));
        CommandLineTest.assertOneLine(outcome, "opening BPF object 'signal': not built for x86_64");
        assertThat(outcome.err().getLast()).isEqualTo(
                "hint: 'make -C bpf' builds it from bpf/signal.bpf.c, and then the recorder has to be built");
    }

    @Test
    void anObjectWithoutItsLineIsNoKind() throws IOException {
        Running.Outcome outcome = record(object());
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(2);
        assertThat(outcome.err().getFirst()).contains("'signal'");
    }

    @Test
    void aLineThatNamesEventsOtherwiseThanItsObjectIsRefused() throws IOException {
        Running.Outcome outcome = record(object(), line(LINE.replace("\"delivered\"", "\"sent\"")));
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(70);
        assertThat(outcome.err()).anyMatch(line -> line.contains(
                "BPF object 'signal' has the names of events [name_delivered], and its probe the names [name_sent]"));
        assertThat(file()).doesNotExist();
    }
}
