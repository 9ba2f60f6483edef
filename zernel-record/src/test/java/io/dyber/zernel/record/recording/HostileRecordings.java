package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.event.StringDictionary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Recovers damaged and forged `.live` folders, one per seed, in a JVM with little memory. Ends with status 0 when each
/// gave a file or a [OutputException]; else the folder stays as it was.
final class HostileRecordings {
    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private volatile long seed;
    private volatile long deadline = Long.MAX_VALUE;

    private HostileRecordings() {}

    /// `FOLDER FIRST-SEED COUNT`
    public static void main(String[] args) throws IOException {
        new HostileRecordings().run(Path.of(args[0]), Long.parseLong(args[1]), Long.parseLong(args[2]));
    }

    private void run(Path folder, long first, long count) throws IOException {
        Thread.ofPlatform().daemon().start(this::watch);
        Map<String, byte[]> whole = whole(folder.resolve("whole.parquet"));
        Map<String, Integer> outcomes = new TreeMap<>();
        for (long number = first; number < first + count; number++) {
            seed = number;
            Path output = folder.resolve(seed + ".parquet");
            Path live = folder.resolve(seed + ".parquet.live");
            write(live, whole, new SplittableRandom(seed));
            deadline = System.nanoTime() + PATIENCE_NANOS;
            try {
                outcomes.merge(outcome(output), 1, Integer::sum);
            } catch (Throwable e) {
                System.out.println("seed " + seed + " in " + live + ": " + e);
                e.printStackTrace(System.out);
                System.exit(2);
            }
            deadline = Long.MAX_VALUE;
            remove(live);
            Files.deleteIfExists(output);
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

    private static String outcome(Path output) {
        try {
            long events = Recovery.recover(output).events();
            return events == 0 ? "without events" : "recovered";
        } catch (OutputException e) {
            String message = String.valueOf(e.getMessage());
            if (!message.startsWith("recovering '" + output + "': ") || message.contains("\n")) {
                throw new AssertionError("no such message in house style: " + message, e);
            }
            return "refused: " + message.substring(message.indexOf("': ") + 3).replaceAll("\\d+", "N");
        }
    }

    /// Two row groups, a journal, a description and a lock.
    private static Map<String, byte[]> whole(Path output) throws IOException {
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(200, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, RandomEvents.COLUMNS, texts, options)) {
            file.describe(Map.of("zernel.recording", """
                    {"host":"here","ended_ns":5,"incomplete_because":["3 events were lost"]}""", "zernel.format", "1"));
            Events.write(
                    file, RandomEvents.COLUMNS, texts, 500, 50, RandomEvents.source(new RandomEvents(5).rows(500)));
        }
        Path live = output.resolveSibling(output.getFileName() + ".live");
        Map<String, byte[]> whole = new TreeMap<>();
        for (Path file : files(live)) {
            whole.put(String.valueOf(file.getFileName()), Files.readAllBytes(file));
        }
        remove(live);
        return whole;
    }

    private static void write(Path live, Map<String, byte[]> whole, SplittableRandom random) throws IOException {
        Files.createDirectory(live);
        for (Map.Entry<String, byte[]> file : whole.entrySet()) {
            Files.write(live.resolve(file.getKey()), file.getValue());
        }
        String victim = new ArrayList<>(whole.keySet()).get(random.nextInt(whole.size()));
        byte[] content = Files.readAllBytes(live.resolve(victim));
        boolean forged = victim.startsWith("journal") && random.nextBoolean();
        Files.write(live.resolve(victim), forged ? ForgedJournal.of(random) : Damage.of(content, random));
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    private static void remove(Path folder) throws IOException {
        if (Files.exists(folder)) {
            for (Path file : files(folder)) {
                Files.delete(file);
            }
            Files.delete(folder);
        }
    }
}
