package io.dyber.zernel.serve;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.fleet.FleetState;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// How long it takes from the arrival of the digests of a job of `-Dbench.nodes=64` machines of `-Dbench.ranks=8` ranks until
/// causes are found that were planted at two places at once, and whether both are, over `-Dbench.seeds=10` seeds, from
/// `-Dbench.first=1` on (`-Dbench=fleet-live`): a late rank, and on another machine a slow loader. With `-Dbench.healthy=true`
/// nothing is planted, and each finding of severity medium or high is a false one.
///
/// Digests are of the middle of the job, as those of a job that is being recorded are: of `-Dbench.steps=80`, without the first
/// and the last 24, as loaders have batches of 24 steps ready when it begins. A loader counts as found by a finding about loading
/// whose subject is its machine, or a rank there.
final class FleetLiveBenchmark {
    private static final Path FOLDER = Path.of("target", "bench", "fleet-live");
    private static final int NODES = Integer.getInteger("bench.nodes", 64);
    private static final int RANKS = Integer.getInteger("bench.ranks", 8);
    private static final int FIRST = Integer.getInteger("bench.first", 1);
    private static final int SEEDS = Integer.getInteger("bench.seeds", 10);
    private static final int STEPS = Integer.getInteger("bench.steps", 80);
    private static final boolean HEALTHY = Boolean.getBoolean("bench.healthy");
    private static final int LOADED_AHEAD = 24;
    private static final List<String> OF_LOADING = List.of("data_bound", "too_few_workers", "hidden_data_bound");

    private FleetLiveBenchmark() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (!List.of("all", "fleet-live").contains(System.getProperty("bench", "all"))) {
            return;
        }
        System.out.printf("%d machines of %d ranks, %d steps%n", NODES, RANKS, STEPS);
        System.out.println("| seed | digests, CPU s | evaluated after s | its CPU s | late rank | slow loader | findings |");
        System.out.println("|---:|---:|---:|---:|---|---|---|");
        int rankFound = 0;
        int loaderFound = 0;
        int quiet = 0;
        for (int seed = FIRST; seed < FIRST + SEEDS; seed++) {
            Outcome outcome = run(seed);
            rankFound += outcome.rank() ? 1 : 0;
            loaderFound += outcome.loader() ? 1 : 0;
            quiet += outcome.loud() ? 0 : 1;
        }
        System.out.println(HEALTHY
                ? "without a finding of severity medium or high: " + quiet + " of " + SEEDS
                : "late rank: " + rankFound + " of " + SEEDS + ", slow loader: " + loaderFound + " of " + SEEDS);
    }

    private record Outcome(boolean rank, boolean loader, boolean loud) {}

    private static Outcome run(int seed) throws IOException, InterruptedException {
        int lateRank = seed * 37 % (NODES * RANKS);
        int slowNode = (lateRank / RANKS + 1 + seed * 11 % (NODES - 1)) % NODES;
        Path digests = Files.createDirectories(FOLDER.resolve("seed" + seed));
        long cpu = cpuNanos();
        simulate(seed, lateRank, slowNode, digests);
        double digesting = (cpuNanos() - cpu) / 1e9;
        Path arrivals = Files.createDirectories(FOLDER.resolve("arrivals"));
        clear(arrivals);
        FleetState state;
        double seconds;
        cpu = cpuNanos();
        try (FleetAnalysis analysis = new FleetAnalysis(arrivals, FleetAnalysis.Pace.USUAL, () -> {})) {
            analysis.start();
            long begin = System.nanoTime();
            arrive(digests, arrivals);
            do {
                Thread.sleep(Duration.ofMillis(20));
                state = analysis.state();
            } while (state.ranks().size() < NODES * RANKS && System.nanoTime() - begin < Duration.ofMinutes(10).toNanos());
            seconds = (System.nanoTime() - begin) / 1e9;
        }
        String rank = "rank " + lateRank + " of " + NODES * RANKS + ",";
        String node = "node%04d".formatted(slowNode);
        List<Findings.Found> found = state.findings().findings();
        boolean rankFound = found.stream().anyMatch(one -> one.name().equals("nccl_straggler") && one.subject().startsWith(rank));
        boolean loaderFound = found.stream().anyMatch(one ->
                OF_LOADING.contains(one.name()) && one.subject().contains(node));
        boolean loud = found.stream().anyMatch(one -> !one.severity().equals("low"));
        System.out.printf("| %d | %.1f | %.1f | %.1f | %s %s | %s %s | %s |%n", seed, digesting, seconds, (cpuNanos() - cpu) / 1e9, rank,
                rankFound ? "found" : "not found", node, loaderFound ? "found" : "not found",
                found.stream().map(one -> one.severity() + " " + one.name() + ": " + one.subject()).limit(5).collect(Collectors.joining("; ")));
        clear(FOLDER.resolve("job"));
        return new Outcome(rankFound, loaderFound, loud);
    }

    private static void simulate(int seed, int lateRank, int slowNode, Path digests) throws IOException {
        Path job = FOLDER.resolve("job");
        if (Files.isDirectory(job)) {
            clear(job);
            Files.delete(job);
        }
        List<String> arguments = new ArrayList<>(List.of("--simulate", "--seed=" + seed, "--steps=" + STEPS, "--ranks=" + NODES * RANKS,
                "--per-node=" + RANKS, "--recorded-steps=" + LOADED_AHEAD + "-" + (STEPS - LOADED_AHEAD), "--quiet", "-o", job.toString()));
        if (!HEALTHY) {
            arguments.addAll(List.of("--cause=straggler-rank@rank=" + lateRank, "--cause=data-bound-cpu@node=" + slowNode));
        }
        if (Record.run(arguments.toArray(String[]::new)) != 0) {
            throw new IllegalStateException("simulating " + arguments);
        }
        for (int node = 0; node < NODES; node++) {
            String name = "node%04d".formatted(node);
            try (Database database = Recordings.open(
                    List.of(job.resolve(name + ".parquet").toString()), DatabaseOptions.defaults().withThreads(1), SqlLibrary.builtIn())) {
                Digest.write(database, digests.resolve(name + Digest.SUFFIX));
            }
        }
    }

    private static void arrive(Path digests, Path folder) throws IOException {
        try (Stream<Path> files = Files.list(digests)) {
            for (Path file : files.toList()) {
                Path part = folder.resolve("." + file.getFileName());
                Files.copy(file, part, StandardCopyOption.REPLACE_EXISTING);
                Files.move(part, folder.resolve(file.getFileName()), StandardCopyOption.ATOMIC_MOVE);
            }
        }
    }

    private static void clear(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    private static long cpuNanos() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
