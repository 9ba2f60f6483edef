package io.dyber.zernel.record.live;

import io.dyber.zernel.record.Comparison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/// What recording costs a training whose limit is the CPU: steps of 60 ms with 2,760 launches through all three layers and
/// 5,400 calls of the allocator, 46,000 and 90,000 a second. Needs root. `OverheadBenchmark [rounds]`.
///
/// First what one launch and one call of the allocator cost, in a process that makes only these: the lowest tenth of its steps,
/// recorded with each call, or counted by bpftrace at its entry, less the lowest tenth of those alone.
///
/// Then one process trains all the time and times its own steps; it is left alone, recorded as by default, recorded with each
/// call, and counted by bpftrace, in turns. Each way is held against the times alone around it.
final class OverheadBenchmark {
    private static final String LAUNCHES = "2760";
    private static final String ALLOCATIONS = "2700";
    private static final String WORK_MICROS = "56000";
    private static final int ALONE_SECONDS = 5;
    private static final int SHORT_SECONDS = 8;
    private static final int LONG_SECONDS = Integer.getInteger("bench.seconds", 5) * 8;

    private final Path folder;
    private final Path libraries = Programs.standIns();
    private final Comparison mean = new Comparison("A step in the mean", "ms");
    private final Comparison median = new Comparison("The median step", "ms");
    private final List<Span> spans = new ArrayList<>();

    /// A time of one way, on CLOCK_MONOTONIC; of a recording, the windows in which it held detail.
    private record Span(String way, long start, long end, List<long[]> windows, String note) {}

    private OverheadBenchmark(Path folder) {
        this.folder = folder;
    }

    /// Prints two tables.
    public static void main(String[] args) throws IOException {
        OverheadBenchmark benchmark = new OverheadBenchmark(Files.createTempDirectory("zernel-overhead"));
        benchmark.calls(LAUNCHES, "0", "cuda_launch", "a launch");
        benchmark.calls("0", ALLOCATIONS, "torch_alloc,torch_free", "a call of the allocator");
        benchmark.run(args.length > 0 ? Integer.parseInt(args[0]) : 2);
    }

    private void calls(String launches, String allocations, String kinds, String call) throws IOException {
        Path file = folder.resolve("steps");
        spans.clear();
        ProcessBuilder training =
                new ProcessBuilder(libraries.resolve("stepping").toString(), "600", launches, allocations, "2000");
        training.environment().put("STEPPING", file.toString());
        try (Running job = Running.start(training)) {
            job.awaitLine("ready");
            alone();
            count(job, "");
            // Names of kernels are found out in the first seconds, by probes of the runtime.
            record("recorded", job, SHORT_SECONDS, List.of("--detail", "all", "--kinds", kinds));
            job.signal("TERM");
            job.await();
        }
        List<TimedStep> steps = TimedStep.read(file);
        double calls = Double.parseDouble(launches) + 2 * Double.parseDouble(allocations);
        double alone = lowest(steps, spans.getFirst());
        Comparison costs = new Comparison("What " + call + " costs", "ns");
        spans.stream().skip(1).forEach(span -> costs.add(span.way(), (lowest(steps, span) - alone) / calls));
        costs.print();
        spans.clear();
    }

    private static double lowest(List<TimedStep> steps, Span span) {
        long half = (span.start() + span.end()) / 2;
        return TimedStep.quantile(steps.stream().filter(step -> step.isIn(half, span.end())).toList(), 0.1);
    }

    private void run(int rounds) throws IOException {
        Path file = folder.resolve("steps");
        int seconds = rounds * (4 * ALONE_SECONDS + 2 * SHORT_SECONDS + LONG_SECONDS + 30);
        ProcessBuilder training = new ProcessBuilder(
                libraries.resolve("stepping").toString(), Integer.toString(seconds), LAUNCHES, ALLOCATIONS, WORK_MICROS);
        training.environment().put("STEPPING", file.toString());
        try (Running job = Running.start(training)) {
            job.awaitLine("ready");
            for (int round = 0; round < rounds; round++) {
                alone();
                record("default", job, LONG_SECONDS, List.of());
                alone();
                record("--detail all", job, SHORT_SECONDS, List.of("--detail", "all"));
                alone();
                count(job, "uretprobe:" + cuda() + ":cuLaunchKernel { @b = count(); } ");
            }
            alone();
            job.signal("TERM");
            job.await();
        }
        judge(TimedStep.read(file));
        mean.print();
        median.print();
    }

    private void alone() {
        long start = System.nanoTime();
        Running.pause(1000L * ALONE_SECONDS);
        spans.add(new Span("alone", start, System.nanoTime(), List.of(), ""));
    }

    private void record(String way, Running job, int seconds, List<String> more) throws IOException {
        Path file = folder.resolve("run.parquet");
        List<String> options = new ArrayList<>(List.of("-p", Long.toString(job.pid())));
        options.addAll(more);
        long start;
        long end;
        try (Running recorder = Recorder.recordTo(file, options.toArray(String[]::new)).startRecording()) {
            start = System.nanoTime();
            Running.pause(1000L * seconds);
            end = System.nanoTime();
            recorder.signal("INT");
            recorder.await();
        }
        try (Recording recording = Recording.open(file)) {
            JsonNode detail = recording.footer("zernel.detail");
            long offset = recording.footer("zernel.clock").path("offset_ns").asLong();
            List<long[]> windows = detail.path("windows").valueStream()
                    .map(one -> new long[] {
                        one.path("start_ns").asLong() - offset, one.path("end_ns").asLong() - offset
                    })
                    .toList();
            spans.add(new Span(way, start, end, windows, detail.path("why").asString()));
        }
        Files.delete(file);
    }

    private String cuda() {
        return libraries.resolve("libcuda.so.1").toString();
    }

    /// @param more that is counted too
    private void count(Running job, String more) throws IOException {
        if (new ProcessBuilder("which", "bpftrace").start().onExit().join().exitValue() != 0) {
            return;
        }
        String torch = libraries.resolve("libc10_cuda.so").toString();
        String script = "uprobe:" + cuda() + ":cuLaunchKernel { @a = count(); } " + more + "usdt:" + torch
                + ":pytorch:malloc { @c = count(); } usdt:" + torch + ":pytorch:free { @d = count(); }";
        try (Running tracer = Running.start(
                "bpftrace", "-p", Long.toString(job.pid()), "-o", folder.resolve("bpftrace").toString(), "-e", script)) {
            Running.pause(4000);
            long start = System.nanoTime();
            Running.pause(1000L * SHORT_SECONDS);
            spans.add(new Span("bpftrace counting", start, System.nanoTime(), List.of(), ""));
            tracer.signal("INT");
            tracer.await();
        }
    }

    private void judge(List<TimedStep> steps) {
        for (int i = 0; i < spans.size(); i++) {
            Span span = spans.get(i);
            List<TimedStep> within =
                    steps.stream().filter(step -> step.isIn(span.start(), span.end())).toList();
            add(span.way(), within);
            if (!span.windows().isEmpty()) {
                add(span.way() + ", in windows", within.stream().filter(step -> isIn(step, span.windows())).toList());
                add(span.way() + ", outside", within.stream().filter(step -> isOut(step, span.windows())).toList());
            }
            if (!span.note().isEmpty()) {
                mean.note(span.way(), span.note());
            }
        }
    }

    private static boolean isIn(TimedStep step, List<long[]> windows) {
        return windows.stream().anyMatch(window -> step.isIn(window[0], window[1]));
    }

    private static boolean isOut(TimedStep step, List<long[]> windows) {
        return windows.stream().allMatch(window -> step.end() < window[0] - 50e6 || step.start() > window[1] + 50e6);
    }

    private void add(String way, List<TimedStep> steps) {
        if (!steps.isEmpty()) {
            mean.add(way, TimedStep.mean(steps) / 1e6);
            median.add(way, TimedStep.quantile(steps, 0.5) / 1e6);
            median.note(way, String.format(Locale.ROOT, "%d steps", steps.size()));
        }
    }
}
