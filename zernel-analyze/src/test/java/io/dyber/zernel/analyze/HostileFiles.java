package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.JournalTest;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Opens damaged recordings, one per seed: finished files, live folders, and journals without checksums. Ends with
/// status 0 when each gave rows or a [RecordingException]; else the file stays as it was.
final class HostileFiles {
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final List<String> QUERIES = List.of(
            "SELECT bit_xor(hash(COLUMNS(*))) FROM events",
            "SELECT kind, name, count(*), sum(length(comm)) FROM events WHERE ts_ns > 0 AND tid > 100 GROUP BY ALL",
            "SELECT count(*) FROM io",
            "SELECT * FROM losses");

    private volatile long seed;
    private volatile long deadline = Long.MAX_VALUE;

    private HostileFiles() {}

    /// `FOLDER RECORDED FIRST-SEED COUNT`
    public static void main(String[] args) throws IOException {
        new HostileFiles().run(Path.of(args[0]), Path.of(args[1]), Long.parseLong(args[2]), Long.parseLong(args[3]));
    }

    private void run(Path folder, Path recorded, long first, long count) throws IOException {
        Thread.ofPlatform().daemon().start(this::watch);
        Map<String, byte[]> live = files(recorded.resolve("run.parquet.live"));
        byte[] finished = Files.readAllBytes(recorded.resolve("run.parquet"));
        byte[] unchecked = JournalTest.journal(8);
        Map<String, Integer> outcomes = new TreeMap<>();
        for (long number = first; number < first + count; number++) {
            seed = number;
            SplittableRandom random = new SplittableRandom(number);
            Path path = folder.resolve(number + (random.nextBoolean() ? ".parquet" : ".parquet.live"));
            if (path.toString().endsWith(".live")) {
                write(path, live, unchecked, random);
            } else {
                Files.write(path, Damage.of(finished, random));
            }
            deadline = System.nanoTime() + PATIENCE_NANOS;
            try {
                outcomes.merge(outcome(path), 1, Integer::sum);
            } catch (Throwable e) {
                System.out.println("seed " + number + " in " + path + ": " + e);
                e.printStackTrace(System.out);
                System.exit(2);
            }
            deadline = Long.MAX_VALUE;
            remove(path);
        }
        outcomes.forEach((outcome, times) -> System.out.println(times + " " + outcome));
    }

    private void watch() {
        while (true) {
            try {
                Thread.sleep(100);
            } catch (InterruptedException _) {
                return;
            }
            if (System.nanoTime() > deadline) {
                System.out.println("seed " + seed + " hangs");
                Runtime.getRuntime().halt(3);
            }
        }
    }

    private static String outcome(Path path) {
        DatabaseOptions options = DatabaseOptions.defaults().withMemoryLimit("256MB").withThreads(1);
        try (Database database = Recordings.open(List.of(path.toString()), options)) {
            for (String query : QUERIES) {
                Table _ = database.query(query);
            }
            return database.rows() == 0 ? "without rows" : "rows";
        } catch (RecordingException e) {
            return String.valueOf(e.getMessage()).lines().findFirst().orElse("")
                    .replace(path.toString(), "F").replaceAll("\\d+|F\\S+", "N").replaceAll("(: .{30}).*", "$1...");
        }
    }

    private static void write(Path folder, Map<String, byte[]> whole, byte[] unchecked, SplittableRandom random)
            throws IOException {
        Files.createDirectory(folder);
        for (Map.Entry<String, byte[]> file : whole.entrySet()) {
            Files.write(folder.resolve(file.getKey()), file.getValue());
        }
        String victim = new ArrayList<>(whole.keySet()).get(random.nextInt(whole.size()));
        boolean other = victim.startsWith("journal") && random.nextInt(4) > 0;
        byte[] content = other ? unchecked : Files.readAllBytes(folder.resolve(victim));
        Files.write(folder.resolve(victim), Damage.of(content, random));
    }

    private static Map<String, byte[]> files(Path folder) throws IOException {
        Map<String, byte[]> content = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                content.put(String.valueOf(file.getFileName()), Files.readAllBytes(file));
            }
        }
        return content;
    }

    private static void remove(Path path) throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
