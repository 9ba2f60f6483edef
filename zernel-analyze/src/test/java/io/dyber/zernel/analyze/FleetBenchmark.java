package io.dyber.zernel.analyze;

import com.sun.management.OperatingSystemMXBean;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.FleetText;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.format.Footer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What the report of `-Dbench.nodes=1250` digests costs, of 8 ranks and 200 steps each (`-Dbench=fleet`), beside that of one.
///
/// They are copies of the digest of one simulated recording, with other hosts and ranks, all of one communicator, and with
/// arrivals that differ by up to 30 us. Each report runs in a JVM of its own.
final class FleetBenchmark {
    private static final Path FOLDER = Path.of("target", "bench", "fleet");
    private static final int RANKS = 8;
    private static final Pattern RANK = Pattern.compile("\"RANK\":\"(\\d+)\"");

    private FleetBenchmark() {}

    /// Without arguments prints the table; with a folder of digests what their report takes.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 1) {
            measure(arguments[0]);
        } else if (List.of("all", "fleet").contains(System.getProperty("bench", "all"))) {
            System.out.println("| digests | ranks | MB | wall ms | CPU ms | MiB at most |");
            System.out.println("|---:|---:|---:|---:|---:|---:|");
            for (int nodes : List.of(1, Integer.getInteger("bench.nodes", 1250))) {
                for (int round = 0; round < Integer.getInteger("bench.rounds", 3); round++) {
                    System.out.print(AnalyzeBenchmark.run(List.of(FleetBenchmark.class.getName(), digests(nodes).toString())));
                }
            }
        }
    }

    private static void measure(String folder) throws IOException {
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long wall = System.nanoTime();
        int nodes;
        int ranks;
        try (Database database = Recordings.open(folder)) {
            Fleet fleet = Fleet.of(database, (_, _) -> {});
            new FleetText(new Page(new PrintWriter(Writer.nullWriter()), 100, false, true)).write(fleet);
            nodes = database.recordings().size();
            ranks = fleet.ranks().rows().size();
        }
        System.out.printf(
                "| %,d | %,d | %,d | %,d | %,d | %,d |%n",
                nodes,
                ranks,
                size(Path.of(folder)) / 1_000_000,
                (System.nanoTime() - wall) / 1_000_000,
                process.getProcessCpuTime() / 1_000_000,
                AnalyzeBenchmark.peakKib() / 1024);
    }

    private static long size(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    /// A folder of so many, made once.
    private static Path digests(int nodes) throws IOException, InterruptedException {
        Path folder = FOLDER.resolve(Integer.toString(nodes));
        if (!Files.exists(folder)) {
            Files.createDirectories(FOLDER);
            Path recording = FOLDER.resolve("run.parquet");
            String _ = AnalyzeBenchmark.run(List.of("io.dyber.zernel.record.cli.Record", "--simulate=straggler-rank", "--ranks",
                    Integer.toString(RANKS), "--steps", "200", "--quiet", "-o", recording.toString()));
            Path digest = FOLDER.resolve("one.parquet");
            try (Database database = Recordings.open(recording.toString())) {
                Digest.write(database, digest);
            }
            copy(digest, Files.createDirectories(folder), nodes);
        }
        return folder;
    }

    private static void copy(Path digest, Path folder, int nodes) {
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            duckDb.execute("CREATE TABLE digest AS FROM " + DuckDb.literal(digest.toString()));
            duckDb.execute("UPDATE digest SET nranks = " + RANKS * nodes + " WHERE part IN ('_collective_calls', '_joined_ranks')");
            Map<String, String> footer = new LinkedHashMap<>();
            for (Table.Row row : duckDb.query("SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata("
                            + DuckDb.literal(digest.toString()) + ")").rows()) {
                footer.put(row.requiredText("key"), row.requiredText("value"));
            }
            for (int node = 0; node < nodes; node++) {
                String metadata = footer(footer, node, nodes).entrySet().stream()
                        .map(entry -> DuckDb.literal(entry.getKey()) + ": " + DuckDb.literal(entry.getValue()))
                        .collect(Collectors.joining(", "));
                duckDb.execute("COPY (SELECT * REPLACE (CASE WHEN part IN ('_collective_calls', '_joined_ranks') THEN rank + "
                        + RANKS * node + " ELSE rank END AS rank, ts_ns + CAST(random() * 30000 AS BIGINT) AS ts_ns) FROM digest) TO "
                        + DuckDb.literal(folder.resolve("node%05d.digest.parquet".formatted(node)).toString())
                        + " (FORMAT parquet, COMPRESSION zstd, WRITE_BLOOM_FILTER false, KV_METADATA {" + metadata + "})");
            }
        }
    }

    /// The footer of another machine's ranks.
    private static Map<String, String> footer(Map<String, String> of, int node, int nodes) {
        Map<String, String> footer = new LinkedHashMap<>(of);
        footer.computeIfPresent(Footer.RECORDING, (_, json) -> json.replace("\"host\":\"simulated\"", "\"host\":\"node" + node + "\""));
        footer.computeIfPresent(Footer.CLOCK, (_, json) -> json.replaceFirst("\"boot_id\":[^,}]*", "\"boot_id\":\"boot " + node + "\""));
        footer.computeIfPresent(Footer.PROCESSES, (_, json) -> RANK
                .matcher(json.replace("\"WORLD_SIZE\":\"" + RANKS + "\"", "\"WORLD_SIZE\":\"" + RANKS * nodes + "\""))
                .replaceAll(rank -> "\"RANK\":\"" + (RANKS * node + Integer.parseInt(rank.group(1))) + "\""));
        return footer;
    }
}
