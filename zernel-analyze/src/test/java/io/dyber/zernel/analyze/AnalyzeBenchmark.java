package io.dyber.zernel.analyze;

import com.sun.management.OperatingSystemMXBean;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.report.JsonReport;
import io.dyber.zernel.analyze.report.ReportFormat;
import io.dyber.zernel.analyze.report.TextReport;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What the analyzer costs on recordings of 1, 10 and (`-Dbench.events=1,10,50`) 50 million events.
///
/// Each task runs in a JVM of its own, once per memory limit and round, and is followed by a bare scan: the hash of all
/// columns that its SQL names, in the same process. Both are CPU time of the process, all threads; memory is the most
/// that was resident before the scan. Tasks take turns in `-Dbench.rounds=3` rounds; a row has the medians and the spread.
final class AnalyzeBenchmark {
    private static final Path FOLDER = Path.of("target", "bench");
    private static final int EVENTS_PER_STEP = 333;
    private static final List<String> LIMITS = List.of("1600MB", "512MB");

    /// @param reads the views and findings whose SQL it runs
    private record Task(String label, List<String> reads, Consumer<Database> work) {}

    /// What one run took; `rows` are the recording's events.
    private record Sample(long rows, long wallMillis, long cpuMillis, long scanMillis, long peakMib) {
        double ratio() {
            return (double) cpuMillis / scanMillis;
        }

        static Sample parse(String line) {
            long[] numbers = Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
            return new Sample(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
        }
    }

    private static final PrintWriter NOWHERE = new PrintWriter(Writer.nullWriter());

    private static final List<Task> TASKS = List.of(
            report("report", new TextReport(new Page(NOWHERE, 80, false, true), false)),
            report("report --json", new JsonReport(NOWHERE, SqlLibrary.builtIn())),
            new Task("percentiles --by-process", List.of("process_percentiles"), AnalyzeBenchmark::percentiles),
            new Task("steps and phases", List.of("steps", "phases"), AnalyzeBenchmark::steps),
            new Task("finding sync_bound", List.of("sync_bound"), AnalyzeBenchmark::finding));

    private AnalyzeBenchmark() {}

    /// Without arguments prints the tables; with a task, a recording and a memory limit, one row of them.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 3) {
            measure(TASKS.get(Integer.parseInt(arguments[0])), arguments[1], arguments[2]);
            return;
        }
        if (!List.of("all", "analyze").contains(System.getProperty("bench", "all"))) {
            return;
        }
        System.out.println("| events | what | memory limit | wall ms | CPU ms | min..max | bare scan, CPU ms | x | min..max | MiB at most |");
        System.out.println("|---:|---|---|---:|---:|---:|---:|---:|---:|---:|");
        for (String millions : System.getProperty("bench.events", "1,10").split(",")) {
            rows(recording(Long.parseLong(millions.strip()) * 1_000_000));
        }
    }

    private static void rows(Path recording) throws IOException, InterruptedException {
        Map<String, List<Sample>> samples = new LinkedHashMap<>();
        for (int round = 0; round < Integer.getInteger("bench.rounds", 3); round++) {
            for (int task = 0; task < TASKS.size(); task++) {
                for (String limit : LIMITS) {
                    String out = run(List.of(AnalyzeBenchmark.class.getName(), Integer.toString(task), recording.toString(), limit));
                    samples.computeIfAbsent(TASKS.get(task).label() + " | " + limit, _ -> new ArrayList<>())
                            .add(Sample.parse(out.strip()));
                }
            }
        }
        samples.forEach((what, all) -> {
            LongSummaryStatistics cpu = all.stream().mapToLong(Sample::cpuMillis).summaryStatistics();
            DoubleSummaryStatistics ratio = all.stream().mapToDouble(Sample::ratio).summaryStatistics();
            System.out.printf("| %,d | %s | %,.0f | %,.0f | %,d..%,d | %,.0f | %.1f | %.1f..%.1f | %,d |%n", all.getFirst().rows(), what,
                    median(all, Sample::wallMillis), median(all, Sample::cpuMillis), cpu.getMin(), cpu.getMax(),
                    median(all, Sample::scanMillis), median(all, Sample::ratio), ratio.getMin(), ratio.getMax(),
                    all.stream().mapToLong(Sample::peakMib).max().orElseThrow());
        });
    }

    private static double median(List<Sample> samples, ToDoubleFunction<Sample> number) {
        double[] sorted = samples.stream().mapToDouble(number).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static Task report(String label, ReportFormat format) {
        Stream<String> findings = SqlLibrary.builtIn().findings().stream().map(SqlObject::name);
        return new Task(
                label,
                Stream.concat(format.sections().stream(), findings).toList(),
                database -> format.write(Report.of(database, format.sections(), (_, _) -> {})));
    }

    private static void percentiles(Database database) {
        read(database, "process_percentiles");
    }

    private static void steps(Database database) {
        read(database, "steps");
        read(database, "phases");
    }

    private static void finding(Database database) {
        SqlObject finding = Objects.requireNonNull(database.library().find("sync_bound"));
        Finding.run(finding, database);
    }

    private static void read(Database database, String view) {
        if (database.query("FROM " + view).rows().isEmpty()) {
            throw new IllegalStateException(view + " is empty");
        }
    }

    private static void measure(Task task, String file, String limit) throws IOException {
        DatabaseOptions options = DatabaseOptions.defaults().withMemoryLimit(limit);
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        try (Database database = Recordings.open(List.of(file), options)) {
            long wall = System.nanoTime();
            long cpu = process.getProcessCpuTime();
            task.work.accept(database);
            cpu = process.getProcessCpuTime() - cpu;
            wall = System.nanoTime() - wall;
            long peak = peakKib();
            String scanned = String.join(", ", columns(task, database));
            long scan = process.getProcessCpuTime();
            database.query("SELECT bit_xor(hash(" + scanned + ")) FROM events");
            scan = process.getProcessCpuTime() - scan;
            System.out.println(database.rows() + " " + wall / 1_000_000 + " " + cpu / 1_000_000 + " " + scan / 1_000_000
                    + " " + peak / 1024);
        }
    }

    /// The columns of `events` that the SQL of a task names, views of views included.
    private static Set<String> columns(Task task, Database database) {
        SqlLibrary library = database.library();
        Deque<String> open = new ArrayDeque<>(task.reads);
        Set<String> seen = new TreeSet<>();
        Set<String> words = new TreeSet<>();
        while (!open.isEmpty()) {
            SqlObject object = library.find(open.pop());
            if (object != null && seen.add(object.name())) {
                open.addAll(object.needs());
                words.addAll(Pattern.compile("\\W+").splitAsStream(object.sql().replaceAll("--.*", ""))
                        .collect(Collectors.toSet()));
            }
        }
        words.retainAll(database.columns());
        words.remove("recording");
        return words;
    }

    static long peakKib() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status"), StandardCharsets.US_ASCII).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    /// A simulated training with about so many events, made once.
    private static Path recording(long events) throws IOException, InterruptedException {
        Path file = FOLDER.resolve("healthy-" + events + ".parquet");
        if (!Files.exists(file)) {
            Files.createDirectories(FOLDER);
            String _ = run(List.of("io.dyber.zernel.record.cli.Record", "--simulate=healthy", "--steps",
                    Long.toString(events / EVENTS_PER_STEP), "--quiet", "-o", file.toString()));
        }
        return file;
    }

    /// Runs a program and returns what it prints.
    static String run(List<String> main) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(main);
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException("ended with an error: " + main);
        }
        return out;
    }
}
