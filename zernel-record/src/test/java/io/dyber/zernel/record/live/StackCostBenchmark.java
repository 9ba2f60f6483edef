package io.dyber.zernel.record.live;

import io.dyber.zernel.record.Comparison;
import io.dyber.zernel.record.python.Pythons;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// What stacks cost: the thread that was blocked, by its CPU time a sleep, and each sample, by the kernel's own count of the
/// time in the program that takes it (`kernel.bpf_stats_enabled`, on while it measures); and what they add to the file.
/// Needs root. Not a test: `-Dbench=stacks`.
///
/// One process of each Python sleeps 1.5 ms at a time, below 1,000 a second, because no CPU takes more stacks than that.
/// Recorded without and with stacks in turns; the interrupt of the sampling clock itself is in no number.
final class StackCostBenchmark {
    private static final List<Integer> DEPTHS = List.of(1, 20, 100);
    private static final int BATCHES = 10;
    private static final int CALLS = 60;
    private static final int SAMPLES_PER_SECOND = 499;
    private static final int BURN_SECONDS = 1;
    private static final Path STATISTICS = Path.of("/proc/sys/kernel/bpf_stats_enabled");

    private final Comparison blocked = new Comparison("A sleep of a Python thread", "us CPU/sleep");
    private final Comparison samples = new Comparison("A sample", "us/sample");
    private final Comparison sizes = new Comparison("The column `stack`", "bytes/stack");
    private final Path folder;
    private int lines;

    private StackCostBenchmark(Path folder) {
        this.folder = folder;
    }

    /// Prints three tables.
    ///
    /// @param args rounds, then the Pythons; all of the machine where none is named
    public static void main(String[] args) throws IOException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 3;
        StackCostBenchmark benchmark = new StackCostBenchmark(Files.createTempDirectory("zernel-stack-cost"));
        String before = Files.readString(STATISTICS);
        Files.writeString(STATISTICS, "1");
        try {
            List<Path> named = Stream.of(args).skip(1).map(Path::of).toList();
            for (Path python : named.isEmpty() ? Pythons.all() : named) {
                benchmark.measure(python, rounds);
            }
        } finally {
            Files.writeString(STATISTICS, before);
        }
        benchmark.blocked.print();
        benchmark.samples.print();
        benchmark.sizes.print();
    }

    private void measure(Path python, int rounds) throws IOException {
        String version = python.getFileName().toString();
        try (Running job = Running.start(python.toString(), Programs.source("stack_cost.py"))) {
            job.awaitLine("ready");
            lines = 0;
            for (int round = 1; round <= rounds; round++) {
                record(job, version, round, false);
                record(job, version, round, true);
            }
        }
    }

    private void record(Running job, String version, int round, boolean stacks) throws IOException {
        Path file = folder.resolve(version + round + stacks + ".parquet");
        Recorder recorder = Recorder.recordTo(file, "-p", Long.toString(job.pid()), "--kinds", "wait,sample");
        recorder = stacks
                ? recorder.with("--stacks", "1ms", "--sample-rate", Integer.toString(SAMPLES_PER_SECOND))
                : recorder.with("--stacks", "off");
        try (Running recording = recorder.startRecording()) {
            Running.pause(500);
            for (int depth : DEPTHS) {
                sleep(job, "%s, %d deep, %s".formatted(version, depth, stacks ? "with stacks" : "without"), depth);
                if (stacks) {
                    burn(job, "%s, %d deep".formatted(version, depth), depth, recording.pid());
                }
            }
            recording.signal("INT");
            recording.await();
        }
        if (stacks) {
            note(version, file);
        }
        Files.delete(file);
    }

    private void sleep(Running job, String way, int depth) {
        job.say("sleeps %d %d %d".formatted(depth, BATCHES, CALLS));
        for (int i = 0; i < BATCHES; i++) {
            blocked.add(way, Double.parseDouble(job.awaitLine("done", ++lines).split(" ")[1]) / 1000);
        }
    }

    private void burn(Running job, String way, int depth, long recorder) throws IOException {
        Runs before = Runs.ofSampling(recorder);
        job.say("burns %d %d".formatted(depth, BURN_SECONDS));
        job.awaitLine("done", ++lines);
        Runs during = Runs.ofSampling(recorder).less(before);
        double nanos = (double) during.nanos() / Math.max(1, during.number());
        samples.add(way, nanos / 1000);
        samples.note(way, String.format(Locale.ROOT, "%.3f %% of a core at 49 a second", 49 * nanos / 1e7));
    }

    private void note(String version, Path file) {
        try (Recording recording = Recording.open(file)) {
            long bytes = recording.number(
                    "SELECT sum(total_compressed_size) FROM parquet_metadata('%s') WHERE path_in_schema = 'stack'".formatted(file));
            long events = recording.number("SELECT count(*) FROM events WHERE stack IS NOT NULL");
            sizes.add(version, (double) bytes / Math.max(1, events));
            sizes.note(version, "%,d stacks, %,d different, %,d over the budget".formatted(
                    events, recording.number("SELECT count(DISTINCT stack) FROM events"),
                    recording.footer("zernel.stacks").path("over_budget").asLong()));
        }
    }

    /// How often the kernel ran a program, and how long in all.
    private record Runs(long number, long nanos) {
        private static final String PERF_EVENT = "7";

        /// Of the program that takes samples, as the descriptors of the process that loaded it tell.
        static Runs ofSampling(long pid) throws IOException {
            Runs most = new Runs(0, 0);
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fdinfo"))) {
                for (Path descriptor : descriptors.toList()) {
                    List<String> facts = facts(descriptor);
                    if (fact(facts, "prog_type").equals(PERF_EVENT)) {
                        most = new Runs(Long.parseLong(fact(facts, "run_cnt")), Long.parseLong(fact(facts, "run_time_ns")));
                    }
                }
            }
            return most;
        }

        Runs less(Runs before) {
            return new Runs(number - before.number, nanos - before.nanos);
        }

        /// None of a descriptor that was closed meanwhile.
        private static List<String> facts(Path descriptor) throws IOException {
            try {
                return Files.readAllLines(descriptor);
            } catch (NoSuchFileException _) {
                return List.of();
            }
        }

        private static String fact(List<String> facts, String name) {
            return facts.stream()
                    .filter(line -> line.startsWith(name + ":"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("");
        }
    }
}
