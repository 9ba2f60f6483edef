package io.dyber.zernel.analyze;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// What GPU time, overlap and idle time by cause of profiler's traces cost (`-Dbench=traces -Dbench.traces=FILE,...`),
/// beside Holistic Trace Analysis where `-Dbench.hta=PYTHON` has it.
///
/// Each trace is read in a process of its own, by each tool in turn, so that both meet the same load. Times are from the
/// start of the process; CPU time is that of all threads; memory is the most that was resident.
final class TraceBenchmark {
    /// Prints what a trace cost: wall and CPU milliseconds, MiB at most.
    private static final String HTA =
            """
            import logging, resource, shutil, sys, tempfile, time
            began = time.time()
            logging.disable(logging.CRITICAL)
            from hta.trace_analysis import TraceAnalysis
            with tempfile.TemporaryDirectory() as folder:
                shutil.copy(sys.argv[1], folder)
                analysis = TraceAnalysis(trace_dir=folder)
                analysis.get_temporal_breakdown(visualize=False)
                analysis.get_comm_comp_overlap(visualize=False)
                rank = next(iter(analysis.t.get_all_traces()))
                analysis.get_idle_time_breakdown(ranks=[rank], visualize=False)
            used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            print("%d %d %d" % ((time.time() - began) * 1e3, sum(u.ru_utime + u.ru_stime for u in used) * 1e3,
                max(u.ru_maxrss for u in used) / 1024))
            """;

    private TraceBenchmark() {}

    /// Without arguments prints the table; with a trace what reading it takes.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 1) {
            measure(arguments[0]);
        } else if (List.of("all", "traces").contains(System.getProperty("bench", "all"))) {
            List<String> traces = Stream.of(System.getProperty("bench.traces", "").split(","))
                    .filter(trace -> !trace.isBlank())
                    .toList();
            String python = System.getProperty("bench.hta", "");
            System.out.println("| trace | MB | tool | wall ms | CPU ms | MiB at most |");
            System.out.println("|---|---:|---|---:|---:|---:|");
            for (int round = 0; round < Integer.getInteger("bench.rounds", 3); round++) {
                for (String trace : traces) {
                    row(trace, "Zernel", AnalyzeBenchmark.run(List.of(TraceBenchmark.class.getName(), trace)));
                    if (!python.isEmpty()) {
                        row(trace, "HTA", hta(python, trace));
                    }
                }
            }
        }
    }

    private static void row(String trace, String tool, String numbers) throws IOException {
        Path file = Path.of(trace);
        System.out.printf(Locale.ROOT, "| %s | %.1f | %s | %s |%n", file.getFileName(), Files.size(file) / 1e6, tool,
                numbers.strip().replace(" ", " | "));
    }

    private static void measure(String trace) throws IOException {
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        try (Database database = Recordings.open(trace)) {
            for (String view : List.of("gpu_time", "gpu_stream_idle", "gpu_idle_causes")) {
                if (database.query("FROM " + view).rows().isEmpty()) {
                    throw new IllegalStateException(view + " is empty");
                }
            }
        }
        long wall = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
        System.out.printf(Locale.ROOT, "%d %d %d%n", wall, process.getProcessCpuTime() / 1_000_000,
                AnalyzeBenchmark.peakKib() / 1024);
    }

    private static String hta(String python, String trace) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(python, "-c", HTA, trace)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() == 0 ? out.lines().reduce("", (_, last) -> last) : "failed - -";
    }
}
