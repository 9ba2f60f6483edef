package io.dyber.zernel.record.live;

import io.dyber.zernel.record.bpf.EmptyProbe;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a recorded call costs the job, against the probe that does nothing and against bpftrace. Not a test; run its
/// `main` as root with the test class path: `java -cp ... io.dyber.zernel.record.live.ProbeCostBenchmark [rounds]`.
///
/// One process calls a function 200,000 times for each way of probing it, all ways in turn in every round. The time of
/// an unprobed call is subtracted. Needs clang and bpftrace.
final class ProbeCostBenchmark {
    private static final int CALLS = 200_000;
    private static final String FUNCTION = "cost_me";

    private final Path program = Programs.built("cost");
    private final Path folder;
    private final Map<String, List<Double>> nanos = new LinkedHashMap<>();
    private final Map<String, String> lost = new LinkedHashMap<>();

    private ProbeCostBenchmark(Path folder) {
        this.folder = folder;
    }

    /// Prints one line per way.
    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 7;
        ProbeCostBenchmark benchmark = new ProbeCostBenchmark(Files.createTempDirectory("zernel-probe-cost"));
        try (Running job = Running.start(benchmark.program.toString())) {
            job.awaitLine("ready");
            for (int round = 0; round < rounds; round++) {
                benchmark.round(job, round + 1);
            }
        }
        benchmark.print();
    }

    private void round(Running job, int round) throws IOException, InterruptedException, ElfException {
        measure("no probe", job);
        try (EmptyProbe _ = new EmptyProbe(
                Path.of(Programs.source("empty.bpf.c")), folder, program.toString(), offset())) {
            measure("empty session probe", job);
        }
        for (String backend : List.of("session", "multi", "perf")) {
            record(backend, job, round);
        }
        bpftrace(
                "bpftrace printf",
                "uprobe:%s:%s { @start[tid] = nsecs; @n[tid] = arg0; } uretprobe:%s:%s"
                        + " { printf(\"%%d %%d %%d\\n\", tid, @n[tid], nsecs - @start[tid]); }",
                job);
        bpftrace("bpftrace count", "uprobe:%s:%s { @calls = count(); } uretprobe:%s:%s { @returns = count(); }", job);
    }

    private long offset() throws ElfException {
        try (ElfFile elf = ElfFile.open(program)) {
            return elf.fileOffset(elf.find(FUNCTION).symbols().getFirst().address()).orElseThrow();
        }
    }

    private void measure(String way, Running job) {
        int before = nanos.values().stream().mapToInt(List::size).sum();
        job.say(Integer.toString(CALLS));
        String took = job.awaitLine("took", before + 1);
        nanos.computeIfAbsent(way, _ -> new ArrayList<>()).add(Double.valueOf(took.substring("took ".length())));
    }

    private void record(String backend, Running job, int round) {
        Path file = folder.resolve(backend + round + ".parquet");
        String way = "zernel-record, " + backend;
        try (Running recorder = Recorder.recordTo(file, "-p", Long.toString(job.pid()), "--kinds", "call")
                .with("--backend", backend, "--probe", program + ":" + FUNCTION + "(number=arg1, result=ret)")
                .startRecording()) {
            Running.pause(1000);
            measure(way, job);
            recorder.signal("INT");
            recorder.await();
        }
        try (Recording recording = Recording.open(file)) {
            lost.put(way, recording.number("SELECT count(*) FROM events WHERE kind = 'call'") + " of " + CALLS + " stored");
        }
    }

    private void bpftrace(String way, String script, Running job) {
        String text = String.format(Locale.ROOT, script, program, FUNCTION, program, FUNCTION);
        try (Running tracer = Running.start("bpftrace", "-o", folder.resolve("bpftrace.txt").toString(), "-e", text)) {
            Running.pause(4000);
            measure(way, job);
            tracer.signal("INT");
            Running.Outcome outcome = tracer.await();
            lost.put(way, outcome.err().stream().filter(line -> line.contains("Lost")).findFirst().orElse(""));
        }
    }

    private void print() {
        double unprobed = median(nanos.getOrDefault("no probe", List.of(0.0)));
        double empty = median(nanos.getOrDefault("empty session probe", List.of(1.0))) - unprobed;
        System.out.printf(Locale.ROOT, "%-24s %10s %18s %9s  %s%n", "way", "ns/call", "min..max", "x empty", "");
        nanos.forEach((way, values) -> {
            double median = median(values);
            String spread = String.format(
                    Locale.ROOT,
                    "%.0f..%.0f",
                    values.stream().mapToDouble(d -> d).min().orElse(0),
                    values.stream().mapToDouble(d -> d).max().orElse(0));
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %10.0f %18s %9.2f  %s%n",
                    way,
                    median,
                    spread,
                    (median - unprobed) / empty,
                    lost.getOrDefault(way, ""));
        });
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
