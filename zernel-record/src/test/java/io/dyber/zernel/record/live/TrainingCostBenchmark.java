package io.dyber.zernel.record.live;

import io.dyber.zernel.record.Comparison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What recording costs a PyTorch training on the CPU whose steps take a millisecond, the worst case for a cost per step.
/// Needs root and `ZERNEL_PYTHON`. `TrainingCostBenchmark [rounds]`.
///
/// One process trains all the time and times its own steps; it is left alone and recorded in each of the ways, in turns,
/// each way between two times alone.
final class TrainingCostBenchmark {
    private static final int SECONDS = Integer.getInteger("bench.seconds", 5);
    private static final int SECONDS_TO_START = 10;
    private static final Map<String, List<String>> WAYS = ways();

    private final Path folder;
    private final List<Span> spans = new ArrayList<>();

    /// A time of one way, on CLOCK_MONOTONIC.
    private record Span(String way, long start, long end) {}

    private TrainingCostBenchmark(Path folder) {
        this.folder = folder;
    }

    private static Map<String, List<String>> ways() {
        Map<String, List<String>> ways = new LinkedHashMap<>();
        ways.put("default", List.of());
        ways.put("kernel only", List.of("--kinds", "process,sched,wait,io,io_open,sample"));
        ways.put("regions only", List.of("--kinds", "region", "--stacks", "off"));
        ways.put("backward only", List.of("--kinds", "backward", "--stacks", "off"));
        ways.put("and every operator", List.of("--probe", "torch_op:*"));
        return ways;
    }

    /// Prints two tables.
    public static void main(String[] args) throws IOException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        new TrainingCostBenchmark(Files.createTempDirectory("zernel-training-cost")).run(rounds);
    }

    private void run(int rounds) throws IOException {
        Path file = folder.resolve("steps");
        int seconds = rounds * WAYS.size() * (2 * SECONDS + SECONDS_TO_START);
        ProcessBuilder training = new ProcessBuilder(
                Needs.python("torch"), Programs.source("short_steps.py"), Integer.toString(seconds));
        training.environment().put("STEPPING", file.toString());
        try (Running job = Running.start(training)) {
            job.awaitLine("ready");
            for (int round = 0; round < rounds; round++) {
                WAYS.forEach((way, options) -> {
                    alone();
                    record(way, options, job);
                });
            }
            alone();
            job.signal("TERM");
            job.await();
        }
        print(TimedStep.read(file));
    }

    private void alone() {
        long start = System.nanoTime();
        Running.pause(1000L * SECONDS);
        spans.add(new Span("alone", start, System.nanoTime()));
    }

    private void record(String way, List<String> options, Running job) {
        try (Running recorder = Recorder.recordTo(folder.resolve("run.parquet"), options.toArray(String[]::new))
                .with("-p", Long.toString(job.pid()))
                .startRecording()) {
            // The attaching is not what a step costs.
            Running.pause(1000);
            long start = System.nanoTime();
            Running.pause(1000L * SECONDS);
            spans.add(new Span(way, start, System.nanoTime()));
            recorder.signal("INT");
            recorder.await();
        }
    }

    private void print(List<TimedStep> steps) {
        Comparison median = new Comparison("The median step", "us");
        Comparison mean = new Comparison("A step in the mean", "us");
        for (Span span : spans) {
            List<TimedStep> within = steps.stream()
                    .filter(step -> step.isIn(span.start(), span.end()))
                    .toList();
            median.add(span.way(), TimedStep.quantile(within, 0.5) / 1e3);
            mean.add(span.way(), TimedStep.mean(within) / 1e3);
        }
        median.print();
        mean.print();
    }
}
