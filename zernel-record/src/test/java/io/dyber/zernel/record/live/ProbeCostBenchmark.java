package io.dyber.zernel.record.live;

import io.dyber.zernel.record.bpf.EmptyProbe;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a recorded call costs the thread that makes it, against the probe that does nothing and against bpftrace. Not a
/// test; run its `main` as root with the test class path: `java -cp ... io.dyber.zernel.record.live.ProbeCostBenchmark
/// [rounds]`. Needs clang and bpftrace.
///
/// One process calls four functions in turn, 500 calls each, 200 times: one without a probe, one with the empty probe, and
/// two that are recorded, with an argument and the result, and with the result only. The ratio is taken in each turn, less
/// the call without a probe. All ways in turn in every round.
final class ProbeCostBenchmark {
    private static final int BATCHES = 200;
    private static final int CALLS = 500;
    private static final List<String> BACKENDS = List.of("session", "multi", "perf");

    private final Path program = Programs.built("cost");
    private final Path folder;
    private final Map<String, List<Turn>> turns = new LinkedHashMap<>();
    private final Map<String, String> kept = new LinkedHashMap<>();
    private int lines;

    /// Nanoseconds of CPU time a call.
    private record Turn(double none, double empty, double argument, double result) {
        static Turn parse(String line) {
            String[] numbers = line.split(" ");
            return new Turn(
                    Double.parseDouble(numbers[1]),
                    Double.parseDouble(numbers[2]),
                    Double.parseDouble(numbers[3]),
                    Double.parseDouble(numbers[4]));
        }

        double argumentRatio() {
            return (argument - none) / (empty - none);
        }

        double resultRatio() {
            return (result - none) / (empty - none);
        }
    }

    private ProbeCostBenchmark(Path folder) {
        this.folder = folder;
    }

    /// Prints one line per way.
    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        ProbeCostBenchmark benchmark = new ProbeCostBenchmark(Files.createTempDirectory("zernel-probe-cost"));
        try (Running job = Running.start(benchmark.program.toString());
                EmptyProbe _ = benchmark.emptyProbe()) {
            job.awaitLine("ready");
            for (int round = 0; round < rounds; round++) {
                benchmark.round(job, round + 1);
            }
        }
        benchmark.print();
    }

    private EmptyProbe emptyProbe() throws IOException, InterruptedException, ElfException {
        try (ElfFile elf = ElfFile.open(program)) {
            long address = elf.find("cost_empty").symbols().getFirst().address();
            return new EmptyProbe(
                    Path.of(Programs.source("empty.bpf.c")),
                    folder,
                    program.toString(),
                    elf.fileOffset(address).orElseThrow());
        }
    }

    private void round(Running job, int round) throws IOException {
        for (String backend : BACKENDS) {
            record(backend, job, round);
        }
        bpftrace(
                "bpftrace printf",
                "{ @start[tid] = nsecs; @n[tid] = arg0; }",
                "{ printf(\"%d %d %d\\n\", tid, @n[tid], nsecs - @start[tid]); }",
                job);
        bpftrace("bpftrace count", "{ @calls = count(); }", "{ @returns = count(); }", job);
    }

    private void measure(String way, Running job) {
        job.say(BATCHES + " " + CALLS);
        List<Turn> measured = turns.computeIfAbsent(way, _ -> new ArrayList<>());
        for (int i = 0; i < BATCHES; i++) {
            measured.add(Turn.parse(job.awaitLine("took", ++lines)));
        }
    }

    private void record(String backend, Running job, int round) {
        Path file = folder.resolve(backend + round + ".parquet");
        String way = "zernel-record, " + backend;
        try (Running recorder = Recorder.recordTo(file, "-p", Long.toString(job.pid()), "--kinds", "call")
                .with("--backend", backend)
                .with("--probe", program + ":cost_argument(number=arg1, result=ret)")
                .with("--probe", program + ":cost_result(result=ret)")
                .startRecording()) {
            Running.pause(1000);
            measure(way, job);
            recorder.signal("INT");
            recorder.await();
        }
        try (Recording recording = Recording.open(file)) {
            long rows = recording.number("SELECT count(*) FROM events WHERE kind = 'call'");
            kept.put(way, rows + " of " + 2 * BATCHES * CALLS);
        }
    }

    private void bpftrace(String way, String onEntry, String onReturn, Running job) {
        String script = probes("uprobe") + onEntry + probes("uretprobe") + onReturn;
        try (Running tracer = Running.start("bpftrace", "-o", folder.resolve("bpftrace.txt").toString(), "-e", script)) {
            Running.pause(4000);
            measure(way, job);
            tracer.signal("INT");
            Running.Outcome outcome = tracer.await();
            kept.put(way, outcome.err().stream().filter(line -> line.contains("Lost")).findFirst().orElse(""));
        }
    }

    private String probes(String kind) {
        return kind + ":" + program + ":cost_argument, " + kind + ":" + program + ":cost_result ";
    }

    private void print() {
        System.out.println("medians and the middle 80 % of " + BATCHES + " turns a round; x is to the empty probe");
        System.out.printf("%-24s %6s %9s  %-20s %9s  %-20s %s%n", "way", "empty", "argument", "x", "result", "x", "kept");
        turns.forEach((way, measured) -> System.out.printf(
                Locale.ROOT,
                "%-24s %6.0f %9.0f  %-20s %9.0f  %-20s %s%n",
                way,
                quantile(measured.stream().mapToDouble(turn -> turn.empty() - turn.none()).toArray(), 0.5),
                quantile(measured.stream().mapToDouble(turn -> turn.argument() - turn.none()).toArray(), 0.5),
                ratio(measured.stream().mapToDouble(Turn::argumentRatio).toArray()),
                quantile(measured.stream().mapToDouble(turn -> turn.result() - turn.none()).toArray(), 0.5),
                ratio(measured.stream().mapToDouble(Turn::resultRatio).toArray()),
                kept.getOrDefault(way, "")));
    }

    private static String ratio(double[] ratios) {
        return String.format(
                Locale.ROOT,
                "%.2f (%.2f..%.2f)",
                quantile(ratios, 0.5),
                quantile(ratios, 0.1),
                quantile(ratios, 0.9));
    }

    private static double quantile(double[] values, double q) {
        return Arrays.stream(values).sorted().toArray()[(int) (q * (values.length - 1))];
    }
}
