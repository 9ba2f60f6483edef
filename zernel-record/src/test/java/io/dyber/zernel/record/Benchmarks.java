package io.dyber.zernel.record;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// All benchmarks of the recorder: `./mvnw -Pbench verify` runs them, with `-Dbench=NAME` only one.
///
/// Each runs in a JVM of its own with the flags of the recorder's, and prints tables whose ways took turns. One that
/// lacks what it needs (root, clang, a Python) says so, and the others run.
final class Benchmarks {
    private record Subject(String name, String main, List<String> arguments) {}

    private static final List<Subject> SUBJECTS = List.of(
            new Subject("ring", "io.dyber.zernel.record.RingBenchmark", List.of()),
            new Subject("journal", "io.dyber.zernel.record.recording.JournalBenchmark", List.of()),
            new Subject("parquet", "io.dyber.zernel.record.recording.ParquetBenchmark", List.of()),
            new Subject("size", "io.dyber.zernel.record.recording.SizeBenchmark", List.of()),
            new Subject("sink", "io.dyber.zernel.record.recording.SinkBenchmark", List.of()),
            new Subject("recorder", "io.dyber.zernel.record.live.RecorderBenchmark", List.of()),
            new Subject("overhead", "io.dyber.zernel.record.live.OverheadBenchmark", List.of("2")),
            new Subject("probe", "io.dyber.zernel.record.live.ProbeCostBenchmark", List.of("3")),
            new Subject("stacks", "io.dyber.zernel.record.live.StackCostBenchmark", List.of("3")),
            new Subject("attach", "io.dyber.zernel.record.AttachBenchmark", List.of()),
            new Subject("start", "io.dyber.zernel.record.StartBenchmark", List.of()),
            new Subject("training", "io.dyber.zernel.record.live.TrainingCostBenchmark", List.of("3")));

    /// Those of the other modules, which the same option names.
    private static final List<String> ELSEWHERE = List.of("analyze", "fleet", "traces", "serve", "fleet-live", "fleet-onset", "jbang");

    private Benchmarks() {}

    /// What `-Dbench` takes, of all modules.
    static List<String> names() {
        return Stream.concat(SUBJECTS.stream().map(Subject::name), ELSEWHERE.stream()).toList();
    }

    /// Runs one benchmark, or all.
    ///
    /// @param args name of a subject, then its arguments; nothing or `all` for all of them
    public static void main(String[] args) throws IOException, InterruptedException {
        printMachine();
        if (args.length > 0 && ELSEWHERE.contains(args[0])) {
            return;
        }
        boolean all = args.length == 0 || args[0].equals("all");
        List<String> failed = new ArrayList<>();
        int run = 0;
        for (Subject subject : SUBJECTS) {
            if (all || args[0].equals(subject.name())) {
                run++;
                System.out.println("\n## " + subject.name());
                System.out.flush();
                if (run(subject, all ? List.of() : List.of(args).subList(1, args.length)) != 0) {
                    failed.add(subject.name());
                }
            }
        }
        if (run == 0) {
            System.err.println("no benchmark '" + args[0] + "'; there are "
                    + String.join(", ", names()));
            System.exit(2);
        }
        if (!failed.isEmpty()) {
            System.err.println("did not run to their end: " + String.join(", ", failed));
            System.exit(1);
        }
    }

    private static int run(Subject subject, List<String> arguments) throws IOException, InterruptedException {
        List<String> command = javaCommand();
        command.add(subject.main());
        command.addAll(arguments.isEmpty() ? subject.arguments() : arguments);
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    /// This JVM's command line up to the main class.
    private static List<String> javaCommand() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        return command;
    }

    private static void printMachine() throws IOException {
        String model = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("unknown CPU");
        System.out.printf(
                "%d x %s, Linux %s, Java %s, load %s%n",
                Runtime.getRuntime().availableProcessors(),
                model,
                System.getProperty("os.version"),
                Runtime.version(),
                Files.readString(Path.of("/proc/loadavg")).strip());
    }
}
