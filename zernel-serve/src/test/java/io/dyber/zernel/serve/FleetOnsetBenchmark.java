package io.dyber.zernel.serve;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.export.Cut;
import io.dyber.zernel.analyze.export.Selection;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.record.cli.Record;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// For how long a rank has to be late until digests of the last 30 s say so (`-Dbench=fleet-onset`): of a job of
/// `-Dbench.nodes=2` machines of `-Dbench.ranks=4` ranks, one rank of which becomes late, digests are made that end 1, 2, 3 and
/// more seconds after that, over `-Dbench.seeds=3` seeds. Whether a finding has the cause, too, is said beside.
final class FleetOnsetBenchmark {
    private static final Path FOLDER = Path.of("target", "bench", "fleet-onset");
    private static final int NODES = Math.min(8, Integer.getInteger("bench.nodes", 2));
    private static final int RANKS = Math.min(4, Integer.getInteger("bench.ranks", 4));
    private static final int FIRST = Integer.getInteger("bench.first", 1);
    private static final int SEEDS = Integer.getInteger("bench.seeds", 3);
    private static final long SECOND = 1_000_000_000L;
    private static final long LAST = 30 * SECOND;
    private static final List<Integer> AFTER = List.of(1, 2, 3, 4, 6, 10, 14, 18, 22);
    private static final int LOADED_AHEAD = 24;
    private static final int TRIED = 40;

    private FleetOnsetBenchmark() {}

    public static void main(String[] arguments) throws IOException {
        if (!List.of("all", "fleet-onset").contains(System.getProperty("bench", "all"))) {
            return;
        }
        System.out.printf("%d machines of %d ranks%n", NODES, RANKS);
        System.out.println("| seed | late rank | step, ms | digests end, s after | finding |");
        System.out.println("|---:|---|---:|---:|---|");
        for (int seed = FIRST; seed < FIRST + SEEDS; seed++) {
            run(seed);
        }
    }

    private static void run(int seed) throws IOException {
        int lateRank = seed * 5 % (NODES * RANKS);
        Path job = FOLDER.resolve("seed" + seed);
        simulate(job, seed, List.of("--steps=" + TRIED));
        long stepNanos = stepEnds(job).stream().reduce((a, b) -> b).orElseThrow() - stepEnds(job).get(TRIED / 2);
        stepNanos /= TRIED - 1 - TRIED / 2;
        int before = (int) (LAST / stepNanos) + LOADED_AHEAD;
        int after = (int) ((AFTER.getLast() + 1) * SECOND / stepNanos) + 1;
        simulate(job, seed, List.of("--steps=" + (before + after + LOADED_AHEAD), "--cause=straggler-rank@rank=" + lateRank + ",from=" + before,
                "--recorded-steps=" + (LOADED_AHEAD / 2) + "-" + (before + after)));
        long onset = stepEnds(job).get(before - LOADED_AHEAD / 2);
        for (int seconds : AFTER) {
            Optional<Finding> found = findings(job, onset + seconds * SECOND).stream()
                    .filter(finding -> finding.name().equals("nccl_straggler"))
                    .findFirst();
            System.out.printf(Locale.ROOT, "| %d | %d | %.0f | %d | %s |%n", seed, lateRank, stepNanos / 1e6, seconds, found
                    .map(finding -> finding.severity() + ": " + finding.subject() + ": " + finding.more().get("cause") + "; "
                            + finding.lostMillisPerStep() + " ms per step")
                    .orElse("none"));
        }
    }

    private static void simulate(Path job, int seed, List<String> more) throws IOException {
        clear(job);
        List<String> arguments = new ArrayList<>(List.of("--simulate", "--seed=" + seed, "--ranks=" + NODES * RANKS, "--per-node=" + RANKS,
                "--quiet", "-o", job.toString()));
        arguments.addAll(more);
        if (Record.run(arguments.toArray(String[]::new)) != 0) {
            throw new IllegalStateException("simulating " + arguments);
        }
    }

    /// When the optimizer of the first rank was done with each step.
    private static List<Long> stepEnds(Path job) {
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            return duckDb.query("SELECT ts_ns + dur_ns AS at_ns FROM " + DuckDb.literal(job.resolve("node0000.parquet").toString())
                            + " WHERE name LIKE 'Optimizer.step#%' AND pid = 4001 ORDER BY at_ns").rows().stream()
                    .map(row -> row.integer("at_ns"))
                    .toList();
        }
    }

    /// What digests say that end at a time.
    private static List<Finding> findings(Path job, long untilNanos) throws IOException {
        Digest.Window window = new Digest.Window(untilNanos - LAST, untilNanos);
        List<String> digests = new ArrayList<>();
        for (int node = 0; node < NODES; node++) {
            String name = "node%04d".formatted(node);
            Path cut = job.resolve("cut.parquet");
            try (Database whole = open(List.of(job.resolve(name + ".parquet").toString()), window.fromNanos())) {
                cut(whole, window, cut);
            }
            Path digest = job.resolve(name + Digest.SUFFIX);
            try (Database database = open(List.of(cut.toString()), window.fromNanos())) {
                Digest.write(database, digest, window);
            }
            digests.add(digest.toString());
        }
        try (Database database = open(digests, DatabaseOptions.ALL)) {
            return Fleet.of(database, (_, _) -> {}).report().diagnosis().findings();
        }
    }

    private static Database open(List<String> files, long fromNanos) {
        return Recordings.open(files, DatabaseOptions.defaults().withThreads(1).withEventsFrom(fromNanos), SqlLibrary.builtIn());
    }

    /// What a recorder that is still running has written by then: calls that have ended.
    private static void cut(Database whole, Digest.Window window, Path file) {
        Selection part = new Selection(List.of(), List.of(), window.fromNanos(), window.toNanos(), window.fromNanos(), List.of());
        String footer = new Cut(whole, part).footer().entrySet().stream()
                .map(entry -> DuckDb.literal(entry.getKey()) + ": " + DuckDb.literal(entry.getValue().replaceFirst("\"stop\":\"[^\"]*\",?", "")))
                .collect(Collectors.joining(", "));
        long _ = whole.write("COPY (SELECT * EXCLUDE (recording) FROM events WHERE ts_ns + coalesce(dur_ns, 0) < " + window.toNanos()
                + ") TO " + DuckDb.literal(file.toString()) + " (FORMAT parquet, KV_METADATA {" + footer + "})");
    }

    private static void clear(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
