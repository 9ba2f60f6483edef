package io.dyber.zernel.analyze.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.record.cli.Record;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Digests say what the recordings do that they are of.
class DigestCommandTest {
    /// Process ids of a simulated rank and its workers.
    private static final int PIDS_OF_RANK = 10_000;

    private static final List<String> VIEWS = List.of(
            "steps", "phases", "late_ranks", "rank_arrivals", "fleet_ranks", "step_mean", "gpu_usage", "losses", "processes");

    /// What is made once: recordings by what was simulated, those of its machines by the file of all, and digests by what they are of.
    private static final Map<String, Path> SIMULATED = new HashMap<>();
    private static final Map<Path, List<Path>> NODES = new HashMap<>();
    private static final Map<List<Path>, Path> DIGESTS = new HashMap<>();

    /// For what tests share, and change only in copies.
    @TempDir
    private static Path shared = Path.of("");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"straggler-rank", "hang", "data-bound-cpu", "memory-leak", "lock"})
    void aDigestSaysWhatItsRecordingSays(String scenario) {
        Path digest = folder.resolve("run.digest.parquet");
        List<String> said;
        Map<String, List<String>> rows = new LinkedHashMap<>();
        try (Database recording = Recordings.open(simulated(scenario, 4).toString())) {
            Digest.write(recording, digest);
            said = findings(recording);
            VIEWS.forEach(view -> rows.put(view, rows(recording, view)));
        }
        assertThat(said).isNotEmpty();
        try (Database database = Recordings.open(digest.toString())) {
            assertThat(findings(database)).isEqualTo(said);
            rows.forEach((view, expected) -> assertThat(rows(database, view)).as(view).isEqualTo(expected));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"straggler-rank", "hang"})
    void digestsOfTheMachinesOfAJobSayWhatTheirRecordingsSay(String scenario) throws IOException {
        List<Path> nodes = nodes(simulated(scenario, 4));
        List<String> said = findings(String.valueOf(nodes.getFirst().getParent()));
        assertThat(said).isNotEmpty();
        try (Database database = Recordings.open(digests(nodes).toString())) {
            assertThat(findings(database)).isEqualTo(said);
            assertThat(database.isOfDigests()).isTrue();
            assertThat(database.query("SELECT count(DISTINCT recording) AS n FROM steps").only().integer("n")).isEqualTo(2);
        }
    }

    /// `-Dcluster.nodes=64` and `-Dcluster.ranks=8` make it a large one.
    @Test
    void digestsOfMachinesWithClocksOfTheirOwnSayWhatTheirRecordingsSay() {
        int nodes = Integer.getInteger("cluster.nodes", 3);
        int ranks = Integer.getInteger("cluster.ranks", 2);
        Path job = folder.resolve("job");
        assertThat(Record.run("--simulate", "--seed=2", "--steps=15", "--ranks=" + nodes * ranks, "--per-node=" + ranks,
                        "--cause=straggler-rank@node=1", "--quiet", "-o", job.toString()))
                .isZero();
        String digests = folder.resolve("digests").toString();
        assertThat(Outcome.of("digest", "-o", digests, job.toString()).status()).isZero();
        List<String> said = findings(job.toString());
        assertThat(said).first().asString().startsWith("nccl_straggler rank ").contains("node0001");
        assertThat(findings(digests)).isEqualTo(said);
    }

    /// What makes a rank late is no finding of its own, which only all machines together tell.
    @ParameterizedTest
    @ValueSource(strings = {"asleep", "cpu_between_calls"})
    void digestsOfMachinesOfWhichOneIsLateSayWhatTheirRecordingsSay(String cause) throws IOException {
        Path job = Files.createDirectories(folder.resolve("job"));
        for (int rank = 0; rank < 4; rank++) {
            rankOfFour(rank, rank == 2 ? cause : "").write(job.resolve("node" + rank + ".parquet"));
        }
        String digests = folder.resolve("digests").toString();
        assertThat(Outcome.of("digest", "-o", digests, job.toString()).status()).isZero();
        List<String> said = findings(job.toString());
        assertThat(said).first().asString().startsWith("nccl_straggler rank 2 of 4, ");
        assertThat(said).noneMatch(finding -> finding.startsWith(cause + " "));
        assertThat(findings(digests)).isEqualTo(said);
        try (Database database = Recordings.open(folder.resolve("digests/node2.digest.parquet").toString())) {
            assertThat(database.diagnose(cause)).hasSize(1);
        }
    }

    /// A recording of one rank over gloo; one that is late sleeps or works for 15 of 40 ms, for which the others wait.
    private static RecordingFixture rankOfFour(int rank, String cause) {
        RecordingFixture fixture = RecordingFixture.recording()
                .footer("zernel.recording", "{\"complete\":true,\"host\":\"node" + rank + "\",\"cpus\":8}")
                .footer("zernel.kinds", "[{\"kind\":\"sched\",\"state\":\"attached\"}]")
                .footer("zernel.processes", "[{\"pid\":100,\"ppid\":99,\"environment\":{\"RANK\":\"" + rank
                        + "\",\"WORLD_SIZE\":\"4\",\"MASTER_ADDR\":\"node0\",\"MASTER_PORT\":\"1\"}}]");
        double late = cause.isEmpty() ? 0 : 15;
        for (int step = 0; step < 30; step++) {
            double at = step * 40;
            fixture.region(RecordingFixture.NEXT, at + (cause.equals("asleep") ? 0 : late), 1).backward(at + 5 + late, 33 - late)
                    .event("dist_wait", "Reducer::finalize_backward", at + 10 + late, 28 - late, "depth = 0")
                    .region(RecordingFixture.STEP, at + 38, 2);
            if (cause.equals("asleep")) {
                fixture.event("wait", "clock_nanosleep", at + 3, late, "status = 0, depth = 1")
                        .event("sched", "off-cpu", at + 3, late, "state = 'sleeping', runq_ns = 0");
            }
        }
        return fixture;
    }

    @Test
    void aRankThatDiffersFromTheOthersIsAnOutlierOfItsJob() throws IOException {
        Path job = Files.createDirectories(folder.resolve("job"));
        for (int rank = 0; rank < 4; rank++) {
            rankOfFour(rank, rank == 2 ? "cpu_between_calls" : "").write(job.resolve("node" + rank + ".parquet"));
        }
        String digests = folder.resolve("digests").toString();
        assertThat(Outcome.of("digest", "-o", digests, job.toString()).status()).isZero();
        try (Database database = Recordings.open(digests)) {
            assertThat(database.query("SELECT DISTINCT host, rank FROM rank_outliers").toString()).isEqualTo("host\trank\nnode2\t2");
            assertThat(database.query("SELECT host, ranks, times_last FROM host_paces LIMIT 1").toString()).isEqualTo("host\tranks\ttimes_last\nnode2\t1\t30");
        }
    }

    @Test
    void findingsThatDigestsHoldAreCounted() throws IOException {
        Path file = simulated("sync-bound", 4);
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("FROM finding_counts").rows()).isEmpty();
        }
        try (Database database = Recordings.open(digests(nodes(file)).toString())) {
            assertThat(database.diagnose("sync_bound")).hasSize(4);
            assertThat(database.query("SELECT times, recordings FROM finding_counts WHERE finding = 'sync_bound'").toString())
                    .isEqualTo("times\trecordings\n4\t2");
        }
    }

    @Test
    void theRanksOfAMissingMachineAreToldAndTheOthersStillCompared() throws IOException {
        List<Path> nodes = nodes(simulated("straggler-rank", 6));
        String digests = digests(nodes.subList(0, 2)).toString();
        Outcome report = Outcome.of("report", "--width", "120", digests);
        assertThat(report.status()).isZero();
        assertThat(report.out()).startsWith("2 digests of 1 host, 4 ranks  SIMULATED: not a real job\n")
                .contains("\n  not recorded: 2 of 6 ranks: 4 to 5\n");
        try (Database database = Recordings.open(digests)) {
            assertThat(database.query("SELECT DISTINCT nranks, ranks, by_all FROM collective_arrivals").toString())
                    .isEqualTo("nranks\tranks\tby_all\n6\t4\ttrue");
        }
    }

    @Test
    void filesThatAreNoneAreLeftOutAndTold() throws IOException {
        List<Path> nodes = nodes(simulated("straggler-rank", 4));
        Path digests = digests(nodes);
        Path whole = digests.resolve("node0.digest.parquet");
        byte[] bytes = Files.readAllBytes(whole);
        Files.copy(whole, digests.resolve("again.digest.parquet"));
        Files.write(digests.resolve("cut.digest.parquet"), Arrays.copyOf(bytes, bytes.length / 2));
        Files.writeString(digests.resolve("words.digest.parquet"), "not at all");
        Files.copy(nodes.getFirst(), digests.resolve("recording.digest.parquet"));
        Files.write(
                digests.resolve("newer.digest.parquet"),
                new String(bytes, StandardCharsets.ISO_8859_1).replace("{\"format\":1,\"of\"", "{\"format\":7,\"of\"").getBytes(StandardCharsets.ISO_8859_1));
        try (Database database = Recordings.open(digests.toString())) {
            assertThat(database.recordings()).hasSize(2);
            assertThat(database.query("SELECT parse_filename(path) AS file, state FROM unread_files ORDER BY 1").toString())
                    .isEqualTo("file\tstate\ncut.digest.parquet\tdamaged\nnewer.digest.parquet\tnewer\nnode0.digest.parquet\tduplicate\n"
                            + "recording.digest.parquet\tforeign\nwords.digest.parquet\tdamaged");
        }
        assertThat(Outcome.of("report", "--width", "120", digests.toString()).out())
                .startsWith("2 digests of 1 host, 4 ranks")
                .contains("\n  left out: 5 files: ");
    }

    @Test
    void whatADigestDoesNotHoldIsRefused() {
        Path digest = folder.resolve("run.digest.parquet");
        try (Database database = Recordings.open(simulated("lock", 1).toString())) {
            Digest.write(database, digest);
        }
        try (Database database = Recordings.open(digest.toString())) {
            assertThatThrownBy(() -> database.query("FROM events")).isInstanceOf(RecordingException.class).hasMessage("digests hold no events");
            assertThatThrownBy(() -> database.query("FROM reads")).hasMessageEndingWith("digests hold no events");
            assertThatThrownBy(() -> database.query("FROM probes")).hasMessage("digests do not hold 'probes'");
            assertThatThrownBy(() -> Digest.write(database, digest)).hasMessage("digesting '" + digest + "': it is a digest already");
        }
        SqlLibrary other = SqlLibrary.builtIn().with("phase_rules.io_wait_threshold", "0.5");
        assertThatThrownBy(() -> Recordings.open(List.of(digest.toString()), DatabaseOptions.defaults(), other))
                .isInstanceOf(RecordingException.class)
                .hasMessageStartingWith("using another 'phase_rules': digests hold ");
    }

    @Test
    void whatADigestOfAnEarlierVersionLacksIsNull() {
        Path digest = folder.resolve("run.digest.parquet");
        SqlLibrary library = SqlLibrary.builtIn();
        SqlObject waits = Objects.requireNonNull(library.find("_cpu_waits"));
        String earlier = waits.sql().replaceFirst(" *costs\\.preempted, -- .*\n", "");
        SqlLibrary before = library.holding(List.of(SqlObject.parse("_cpu_waits", waits.role(), earlier, waits.origin(), waits.line())));
        try (Database database = Recordings.open(List.of(simulated("lock", 1).toString()), DatabaseOptions.defaults(), before)) {
            Digest.write(database, digest);
        }
        try (Database database = Recordings.open(digest.toString())) {
            assertThat(database.query("SELECT count(*) > 0 AS rows, count(preempted) AS known FROM cpu_waits").toString()).isEqualTo("rows\tknown\ntrue\t0");
            assertThat(database.diagnose().skipped()).isEmpty();
        }
    }

    @Test
    void recordingsAreOpenedWhereTheirDigestsLieBesideThem() throws IOException {
        Path file = Files.copy(simulated("lock", 1), folder.resolve("run.parquet"));
        assertThat(Outcome.of("digest", file.toString()).status()).isZero();
        assertThat(folder.resolve("run.digest.parquet")).exists();
        try (Database database = Recordings.open(folder.toString())) {
            assertThat(database.isOfDigests()).isFalse();
            assertThat(database.recordings()).hasSize(1);
        }
    }

    @Test
    void recordingsAreReadBesideASmallerNumberOfOtherDigests() throws IOException {
        List<Path> nodes = nodes(simulated("straggler-rank", 4));
        Path digests = digests(nodes);
        Files.delete(digests.resolve("node1.digest.parquet"));
        Files.copy(nodes.getFirst(), digests.resolve("a.parquet"));
        Files.copy(nodes.get(1), digests.resolve("b.parquet"));
        try (Database database = Recordings.open(digests.toString())) {
            assertThat(database.isOfDigests()).isFalse();
            assertThat(database.recordings()).hasSize(2);
        }
    }

    @Test
    void whatElseLiesBesideDigestsIsLeftOutAndTold() throws IOException {
        List<Path> nodes = nodes(simulated("straggler-rank", 4));
        Path digests = digests(nodes);
        Files.copy(nodes.getFirst(), digests.resolve("node7.parquet"));
        try (Database database = Recordings.open(nodes.getFirst().toString())) {
            long _ = database.write("COPY (SELECT 1 AS mean) TO '" + digests.resolve("a-stats.parquet") + "' (FORMAT parquet)");
        }
        Files.copy(digests.resolve("a-stats.parquet"), digests.resolve("a-stats.digest.parquet"));
        try (Database database = Recordings.open(digests.toString())) {
            assertThat(database.isOfDigests()).isTrue();
            assertThat(database.recordings()).hasSize(2);
            assertThat(database.query("SELECT parse_filename(path) AS file, state FROM unread_files ORDER BY 1").toString())
                    .isEqualTo("file\tstate\na-stats.digest.parquet\tforeign\na-stats.parquet\tforeign\nnode7.parquet\tforeign");
        }
        assertThat(Outcome.of("report", "--width", "200", digests.toString()).out())
                .startsWith("2 digests of 1 host, 4 ranks")
                .contains("\n  left out: 3 files: ");
    }

    @Test
    void digestsAreNotCompared() throws IOException {
        Path file = Files.copy(simulated("lock", 1), folder.resolve("run.parquet"));
        assertThat(Outcome.of("digest", file.toString()).status()).isZero();
        String digest = folder.resolve("run.digest.parquet").toString();
        for (String other : List.of(digest, file.toString())) {
            assertThat(Outcome.of("diff", other, digest).err()).isEqualTo("zernel-analyze: opening '" + digest
                    + "': it is a digest, which has no events to compare\nhint: compare the recordings that digests are of\n");
        }
        // A folder stands for its recordings.
        assertThat(Outcome.of("diff", folder.toString(), file.toString()).status()).isZero();
    }

    @Test
    void missingRanksAreToldByJob() {
        Path digests = folder.resolve("digests");
        for (int job = 0; job < 2; job++) {
            Path file = job(2 + job, 4 * (1 + job)).write(folder.resolve("job" + job + ".parquet"));
            assertThat(Outcome.of("digest", "-o", digests.toString(), file.toString()).status()).isZero();
        }
        assertThat(Outcome.of("report", "--width", "120", digests.toString()).out())
                .contains("\n  not recorded: 7 of 12 ranks: 2 to 3 of job node0 2; 3 to 7 of job node0 3\n");
    }

    /// The first ranks of a job.
    private static RecordingFixture job(int ranks, int worldSize) {
        RecordingFixture fixture = RecordingFixture.recording();
        StringJoiner processes = new StringJoiner(",", "[", "]");
        for (int rank = 0; rank < ranks; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3").training(12, 5);
            processes.add("{\"pid\":" + (100 + rank) + ",\"environment\":{\"RANK\":\"" + rank + "\",\"WORLD_SIZE\":\"" + worldSize
                    + "\",\"MASTER_ADDR\":\"node0\",\"MASTER_PORT\":\"" + ranks + "\"}}");
        }
        return fixture.footer("zernel.processes", processes.toString());
    }

    @Test
    void noDigestTakesThePlaceOfAnother() throws IOException {
        Path file = simulated("lock", 1);
        Path other = Files.createDirectories(folder.resolve("other")).resolve("run.parquet");
        Files.copy(file, other);
        String digests = folder.resolve("digests").toString();
        Outcome both = Outcome.of("digest", "-o", digests, file.toString(), other.toString());
        assertThat(both.status()).isEqualTo(1);
        assertThat(both.err()).startsWith("zernel-analyze: digesting '" + other + "': '" + digests + "/run.digest.parquet' is to be that of '" + file + "'\n");
        assertThat(folder.resolve("digests")).isEmptyDirectory();
        Outcome first = Outcome.of("digest", "--csv", "-o", digests, file.toString());
        Path digest = folder.resolve("digests/run.digest.parquet");
        assertThat(first.out().lines().skip(1))
                .singleElement()
                .asString()
                .startsWith(file + "," + digest + ",")
                .endsWith("," + digest.toFile().length());
        assertThat(Outcome.of("digest", "-o", digests, other.toString()).err())
                .startsWith("zernel-analyze: writing '" + digest + "': it exists already\nhint: -f overwrites it");
        assertThat(Outcome.of("digest", "-f", "-o", digests, other.toString()).status()).isZero();
    }

    /// Of a real GPU.
    @ParameterizedTest
    @ValueSource(strings = {"pageable2", "resnet", "big"})
    void aDigestSaysWhatARealRecordingSays(String name) {
        Path file = Path.of("src/test/resources/h100", name + ".parquet");
        Path digest = folder.resolve("run.digest.parquet");
        List<String> said;
        try (Database database = Recordings.open(file.toString())) {
            Digest.write(database, digest);
            said = findings(database);
        }
        assertThat(findings(digest.toString())).isEqualTo(said);
    }

    @Test
    void theReportOfAFleetHasItsForms() throws IOException {
        String digests = digests(nodes(simulated("straggler-rank", 4))).toString();
        assertThat(Outcome.of("report", "--json", digests).out())
                .contains("\"finding\": \"nccl_straggler\"", "\"missing_ranks\": [", "\"unread_files\": [", "\"lag_ns\": ");
        assertThat(Outcome.of("report", "--html", digests).out())
                .startsWith("<!doctype html>")
                .contains("<svg ", "rank 3, simulated: ")
                .doesNotContain("<script");
        assertThat(Outcome.of("report", "--markdown", digests).status()).isEqualTo(2);
    }

    /// A job whose ranks are all in one file.
    private static Path simulated(String scenario, int ranks) {
        return SIMULATED.computeIfAbsent(scenario + " " + ranks, name -> {
            Path job = shared.resolve(name);
            assertThat(job.toFile().mkdir()).isTrue();
            Path file = job.resolve("run.parquet");
            assertThat(Record.run("--simulate=" + scenario, "--seed=3", "--steps=40", "--ranks=" + ranks, "--quiet", "-o", file.toString()))
                    .isZero();
            return file;
        });
    }

    /// The same as one file for each two ranks.
    private static List<Path> nodes(Path whole) {
        return NODES.computeIfAbsent(whole, _ -> {
            Path nodes = whole.resolveSibling("nodes");
            assertThat(nodes.toFile().mkdir()).isTrue();
            List<Long> pids = new ArrayList<>();
            try (Database database = Recordings.open(whole.toString())) {
                database.query("SELECT DISTINCT pid FROM events WHERE pid IS NOT NULL").rows().forEach(row -> pids.add(row.integer("pid")));
            }
            List<Path> files = new ArrayList<>();
            for (int node = 0; pids.stream().anyMatch(ofNode(node)::contains); node++) {
                Path file = nodes.resolve("node" + node + ".parquet");
                String own = pids.stream().filter(ofNode(node)::contains).map(String::valueOf).collect(Collectors.joining(","));
                assertThat(Outcome.of("export", "--parquet", "--pid", own, "-o", file.toString(), whole.toString()).status()).isZero();
                files.add(file);
            }
            return files;
        });
    }

    private record Pids(long from, long to) {
        boolean contains(long pid) {
            return pid >= from && pid < to;
        }
    }

    private static Pids ofNode(int node) {
        return new Pids(2L * PIDS_OF_RANK * node, 2L * PIDS_OF_RANK * (node + 1));
    }

    /// The digests of recordings, in a folder of the test's own.
    private Path digests(List<Path> recordings) throws IOException {
        Path made = DIGESTS.computeIfAbsent(recordings, _ -> {
            Path digests = shared.resolve("digests " + DIGESTS.size());
            List<String> command = new ArrayList<>(List.of("digest", "-o", digests.toString()));
            recordings.forEach(recording -> command.add(recording.toString()));
            assertThat(Outcome.of(command.toArray(new String[0])).status()).isZero();
            return digests;
        });
        Path digests = Files.createDirectory(folder.resolve("digests"));
        try (Stream<Path> files = Files.list(made)) {
            for (Path file : files.toList()) {
                Files.copy(file, digests.resolve(file.getFileName()));
            }
        }
        return digests;
    }

    private static List<String> rows(Database database, String view) {
        return database.query("FROM " + view).rows().stream().map(row -> row.values().toString()).sorted().toList();
    }

    /// What findings say, with the file's name left out.
    private static List<String> findings(String file) {
        try (Database database = Recordings.open(file)) {
            return findings(database);
        }
    }

    private static List<String> findings(Database database) {
        Diagnosis diagnosis = database.diagnose();
        assertThat(diagnosis.skipped()).isEmpty();
        return diagnosis.findings().stream()
                .map(finding -> finding.name() + " " + finding.subject() + " " + finding.value() + " " + finding.lostMillisPerStep() + " "
                        + finding.maxSpeedup() + " " + finding.severity() + " " + finding.evidence() + " " + finding.advice() + " " + finding.more())
                .toList();
    }
}
