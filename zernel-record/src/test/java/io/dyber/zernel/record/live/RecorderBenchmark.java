package io.dyber.zernel.record.live;

import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.record.Comparison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/// The whole recorder at work: a process calls a probed function so many times a second, and the recorder's own CPU time
/// per event, its memory and what it lost are taken. Needs root. `-Dbench.seconds=60` records each rate that long.
///
/// The CPU time is that between the first and the last call; the second comparison has what happens before and after:
/// from the start of the command to the first event that is recorded, and from SIGINT to the finished file.
final class RecorderBenchmark {
    private static final int SECONDS = Integer.getInteger("bench.seconds", 5);
    private static final List<Integer> RATES = List.of(10_000, 100_000, 300_000, 500_000, 700_000, 0);
    private static final double TICKS_PER_SECOND = 100;

    private final Comparison cpu = new Comparison("Recorder, calls of one function", "ns CPU/event");
    private final Comparison ends = new Comparison("Before and after", "ms");
    private final Path program = Programs.built("paced");
    private final Path folder;
    private long highest;

    private RecorderBenchmark(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] args) throws IOException {
        RecorderBenchmark benchmark = new RecorderBenchmark(Files.createTempDirectory("zernel-benchmark"));
        try (Running job = Running.start(benchmark.program.toString())) {
            job.awaitLine("ready");
            int round = 0;
            for (int rate : RATES) {
                benchmark.record(job, rate, ++round);
            }
        }
        benchmark.cpu.print();
        benchmark.ends.print();
        System.out.printf(Locale.ROOT, "%nhighest rate here without a loss: %,d calls/s%n", benchmark.highest);
        Files.delete(benchmark.folder);
    }

    private void record(Running job, int rate, int round) throws IOException {
        Path file = folder.resolve("run.parquet");
        long began = System.currentTimeMillis();
        try (Running recorder = Recorder.recordTo(file, "-p", Long.toString(job.pid()), "--kinds", "call")
                .with("--probe", program + ":pace_me(number=arg1, result=ret)")
                .startRecording()) {
            ends.add("start to probes attached", (double) (System.currentTimeMillis() - began));
            double before = cpuSeconds(recorder.pid());
            job.say(rate + " " + SECONDS);
            long calls = Long.parseLong(job.awaitLine("called", round).substring("called ".length()));
            double seconds = cpuSeconds(recorder.pid()) - before;
            long memory = mostMemory(recorder.pid());
            long journal = firstJournal(file);
            long stopped = System.currentTimeMillis();
            recorder.signal("INT");
            recorder.await();
            ends.add("stop to final file", (double) (System.currentTimeMillis() - stopped));
            note(file, rate, calls, seconds, memory, journal);
        }
        Files.delete(file);
    }

    private void note(Path file, int rate, long calls, double seconds, long memory, long journal) {
        try (Recording recording = Recording.open(file)) {
            long events = recording.number("SELECT count(*) FROM events WHERE kind = 'call'");
            JsonNode losses = recording.footer("zernel.losses");
            long lost = losses.path("total").asLong() + losses.path("ends").asLong();
            String way = rate == 0 ? "as fast as it can" : String.format(Locale.ROOT, "%,d calls/s", rate);
            cpu.add(way, seconds * 1e9 / Math.max(1, events));
            cpu.note(way, String.format(
                    Locale.ROOT,
                    "%,d calls/s made, %,d lost, recorder %.1f %% of a CPU, %d MiB at most%s",
                    calls / SECONDS, lost, 100 * seconds / SECONDS, memory,
                    journal == 0 ? "" : ", %.0f bytes of journal/event".formatted(journal / (double) calls)));
            highest = lost == 0 ? Math.max(highest, calls / SECONDS) : highest;
        }
    }

    private static double cpuSeconds(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
    }

    /// Bytes of the journal as long as it holds all events; then 0.
    private static long firstJournal(Path file) throws IOException {
        Path journal = file.resolveSibling(file.getFileName() + LiveFolder.SUFFIX).resolve(LiveFolder.journalName(0));
        return Files.exists(journal) ? Files.size(journal) : 0;
    }

    /// MiB.
    private static long mostMemory(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith("VmHWM"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) >> 10)
                .findFirst()
                .orElse(0);
    }
}
