package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import io.dyber.zernel.analyze.recording.Recording;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class ExportCommandTest {
    private static final String ODD_COLUMNS = "INTERVAL 1 DAY AS pause, [1, 2] AS shape, {'a': 1} AS pair, "
            + "3::HUGEINT AS huge, 1.5::DECIMAL(9, 2) AS price, 2.5::FLOAT AS ratio";

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
    void foldedStacksAndPerfettosFormatAreWritten() throws IOException {
        Path stacks = folder.resolve("run.folded");
        assertThat(Outcome.of("export", "--folded", "-o", stacks.toString(), file).status()).isZero();
        assertThat(Files.readAllLines(stacks)).contains("other (200);other (201);read 3000000");
        Path trace = folder.resolve("run.pftrace");
        assertThat(Outcome.of("export", "--perfetto", "-o", trace.toString(), file).status()).isZero();
        assertThat(Files.readAllBytes(trace)).startsWith(0x0a); // a packet
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
    void aTableMayHaveColumnsOfAnyType() throws IOException {
        assertThat(rows("--sql", "SELECT " + ODD_COLUMNS)).containsExactly("1 day,\"[1, 2]\",{'a': 1},3,1.50,2.5");
        Outcome json = Outcome.of("sql", "--json", file, "SELECT " + ODD_COLUMNS);
        assertThat(json.status()).as(json.err()).isZero();
        assertThat(new JsonMapper().readTree(json.out()).path(0).toString()).isEqualTo(
                "{\"pause\":\"1 day\",\"shape\":[1,2],\"pair\":{\"a\":1},\"huge\":3,\"price\":1.5,\"ratio\":2.5}");
    }

    @Test
    void aTraceHoldsColumnsOfOtherTypesAsText() throws IOException {
        Path foreign = folder.resolve("foreign.parquet");
        try (Database database = Recordings.open(file)) {
            database.write("COPY (SELECT *, " + ODD_COLUMNS + " FROM io) TO '" + foreign + "' (FORMAT parquet)");
        }
        Path trace = folder.resolve("foreign.json");
        Outcome outcome = Outcome.of("export", "--chrome", "-o", trace.toString(), foreign.toString());
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(Files.readString(trace))
                .contains("\"pause\":\"1 day\",\"shape\":\"[1, 2]\",\"pair\":\"{'a': 1}\",\"huge\":3,\"price\":\"1.50\"");
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
    void anUnknownKindNamesTheNearest() {
        Outcome outcome = csv("--kind", "regoin");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).isEqualTo("""
                zernel-analyze: selecting 'regoin': no such kind of event
                hint: did you mean 'region'?
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
    void aCutOfARecordingIsARecording() {
        String whole = recording().training(40, 15).event("lost", "wait", 100, null, "count = 7")
                .event("lost", "wait", 1000, null, "count = 3").io(1, 2, 70)
                .footer("zernel.losses", "{\"rings\":[],\"by_kind\":{\"wait\":10},\"total\":10}")
                .footer("zernel.probes", "[{\"kind\":\"io\",\"symbol\":\"read\",\"state\":\"attached\",\"entries\":1}]")
                .footer("zernel.threads", "[]")
                .write(folder.resolve("whole.parquet")).toString();
        String cut = folder.resolve("cut.parquet").toString();
        // Steps of 50 ms: those from the 11th to the 30th, and the optimizer step that reaches into it.
        assertThat(Outcome.of("export", "--parquet", "--from", "0.498", "--to", "1.5", "-o", cut, whole).status()).isZero();
        try (Database database = Recordings.open(cut)) {
            Recording recording = database.recordings().getFirst();
            assertThat(recording.state()).isEqualTo(Recording.State.FINISHED);
            assertThat(recording.metadata()).containsKey("zernel.kinds").doesNotContainKey("zernel.threads");
            assertThat(recording.note()).isEqualTo("cut out of " + whole
                    + ", 1.002 s long: what happened before, such as allocations, is not in it");
            assertThat(database.query("SELECT complete, events, (ended_ns - started_ns) // 1000000 AS ms FROM recordings").toString())
                    .isEqualTo("complete\tevents\tms\ntrue\t62\t1002");
            assertThat(database.query("SELECT count(*) AS steps, median(dur_ns) AS ns FROM steps WHERE step > 1").toString())
                    .isEqualTo("steps\tns\n20\t5.0E7");
            assertThat(database.query("SELECT kind, lost FROM losses").toString()).isEqualTo("kind\tlost\nwait\t3");
            assertThat(database.query("SELECT state, entries FROM probes").toString()).isEqualTo("state\tentries\nattached\tnull");
            assertThat(database.diagnose("data_bound")).hasSize(1);
        }
        assertThat(Outcome.of("report", cut).out()).contains("note: cut out of ");
    }

    @Test
    void aRecordingThatWasExportedWithATraceKnowsItsClock() {
        String run = recording().training(6, 15).launch("a", 20, 0.1).launch("b", 120, 0.1)
                .write(folder.resolve("whole.parquet")).toString();
        String trace = TraceFixture.trace(100).kernel("a", 7, 20, 21, 30).kernel("b", 7, 120, 121, 30)
                .write(folder.resolve("trace.json")).toString();
        String joined = folder.resolve("joined.parquet").toString();
        assertThat(Outcome.of("export", "--parquet", "-o", joined, run, trace).status()).isZero();
        String clocks = "SELECT pid, activities, clock, shift_ns, error_ns, matched, started_ns, ended_ns FROM gpu_traces";
        try (Database both = Recordings.open(run, trace);
                Database one = Recordings.open(joined)) {
            assertThat(one.query(clocks).toString()).isEqualTo(both.query(clocks).toString());
            assertThat(one.query("FROM gpu_time").toString()).isEqualTo(both.query("FROM gpu_time").toString());
            assertThat(one.query("FROM gpu_time").rows()).hasSize(1);
        }
    }

    @Test
    void aCutOfSomeKindsSaysWhatIsNotInIt() throws IOException {
        String cut = folder.resolve("cut.parquet").toString();
        assertThat(Outcome.of("export", "--parquet", "--kind", "io", "-o", cut, file).status()).isZero();
        try (Database database = Recordings.open(cut)) {
            assertThat(database.query("SELECT kind, state, why, events FROM kinds").toString())
                    .isEqualTo("kind\tstate\twhy\tevents\nio\tunstated\tnull\t2\nregion\toff\tleft out of the cut\t0");
            assertThat(database.recordings().getFirst().incompleteBecause())
                    .containsExactly("only some kinds or processes were cut out");
        }
        String other = Files.copy(Path.of(file), folder.resolve("other.parquet")).toString();
        Outcome two = Outcome.of("export", "--parquet", "-f", "-o", cut, file, other);
        assertThat(two.err()).endsWith("it is a table of 2 recordings and none itself; cut out of one to have a recording\n");
        assertThat(Outcome.of("info", cut).out()).contains("state                foreign");
    }

    @Test
    void timesOfAnotherMachineAreMovedToTheClockOfTheFirst() throws IOException {
        List<String> files = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            double ahead = 2000.0 * rank;
            RecordingFixture fixture = recording().on(100 + rank, 100 + rank, "python3")
                    .footer("zernel.recording", "{\"host\":\"host" + rank + "\",\"started_ns\":"
                            + (RecordingFixture.START_NS + rank * 2_000_000_000L) + "}")
                    .footer("zernel.clock", "{\"offset_ns\":0,\"boot_id\":\"boot" + rank + "\"}");
            for (int i = 0; i < 50; i++) {
                // The wait for the collective ends on both ranks 0.1 ms after the later call.
                fixture.allReduce(rank, i, ahead + 20 * i + 0.2 * rank, 0.1, 8).sync(ahead + 20 * i + 0.25, 0.05);
            }
            files.add(fixture.write(folder.resolve("rank" + rank + ".parquet")).toString());
        }
        String out = folder.resolve("job.json").toString();
        Outcome outcome = Outcome.of("export", "--chrome", "--to", "0.5", "-o", out, files.get(0), files.get(1));
        assertThat(outcome.err()).containsPattern("times of .*rank1.parquet are moved by -(1999|2000)\\.\\d{3} ms, \\+-0\\.\\d{3} ms, to the first");
        List<Double> starts = new ArrayList<>();
        new JsonMapper().readTree(Files.newInputStream(Path.of(out))).path("traceEvents").forEach(event -> {
            if (event.path("cat").asString("").equals("nccl") && event.path("ph").asString("").equals("X")) {
                starts.add(event.path("ts").asDouble());
            }
        });
        // Both ranks up to 0.5 s, although the second one's clock is 2 s ahead.
        assertThat(starts).hasSize(50).allSatisfy(start -> assertThat(start).isBetween(-1000.0, 501_000.0));
    }

    @Test
    void standardOutputTakesTextAndNothingElse() throws Exception {
        Process process = program("export", "--csv", "--sql", "SELECT 1 AS one", "-o", "-", file);
        assertThat(new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("one\n1\n");
        assertThat(process.waitFor()).isZero();
        assertThat(Outcome.of("export", "--parquet", "-o", "-", file).err())
                .startsWith("zernel-analyze: Parquet cannot go to standard output\n");
    }

    @Test
    void aStoppedExportLeavesNothingBehind() throws Exception {
        Process process = program("export", "--csv", "--sql", "SELECT i FROM range(100000000000) t(i)",
                "-o", folder.resolve("out.csv").toString(), file);
        try {
            Path temporary = folder.resolve(".out.csv." + process.pid() + ".tmp");
            while (process.isAlive() && Files.notExists(temporary)) {
                Thread.sleep(20);
            }
            assertThat(temporary).exists();
            process.destroy();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(Path::toString)).containsExactly(file);
        }
    }

    private static Process program(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "io.dyber.zernel.analyze.cli.Analyze"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    private Outcome csv(String... options) {
        List<String> arguments = new ArrayList<>(List.of("export", "--csv", "-f", "-o", folder.resolve("out.csv").toString()));
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
