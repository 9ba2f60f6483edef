package io.dyber.zernel.record;

import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.CallCost;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.RingSizes;
import io.dyber.zernel.record.attach.SystemCallCost;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.schema.Schema;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// What the recorder's start takes, part by part, in a fresh JVM each time, and as a whole, with its end. Not a test; run its `main` as root with the
/// test class path: `java -cp ... io.dyber.zernel.record.StartBenchmark [rounds]`.
final class StartBenchmark {
    private static final String PART = "part ";

    private StartBenchmark() {}

    /// Prints one line per part.
    public static void main(String[] args) throws IOException {
        if (args.length > 0 && args[0].equals("once")) {
            once(Long.parseLong(args[1]));
            return;
        }
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 7;
        Map<String, List<Double>> millis = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (String line : freshJvm()) {
                if (line.startsWith(PART)) {
                    String[] part = line.substring(PART.length()).split("=");
                    add(millis, part[0], Double.parseDouble(part[1]));
                }
            }
            recordSleeper(millis);
        }
        System.out.printf("%-34s %8s  %s%n", "milliseconds", "median", "min..max");
        millis.forEach((part, values) -> {
            List<Double> sorted = values.stream().sorted().toList();
            System.out.printf(
                    Locale.ROOT,
                    "%-34s %8.0f  %.0f..%.0f%n",
                    part,
                    sorted.get(sorted.size() / 2),
                    sorted.getFirst(),
                    sorted.getLast());
        });
    }

    private static void add(Map<String, List<Double>> millis, String part, double value) {
        millis.computeIfAbsent(part, _ -> new ArrayList<>()).add(value);
    }

    /// Records a process that sleeps, as a command does.
    private static void recordSleeper(Map<String, List<Double>> millis) throws IOException {
        Path file = Files.createTempDirectory("zernel-start").resolve("run.parquet");
        Process sleeper = new ProcessBuilder("sleep", "60").start();
        List<String> command = javaCommand();
        command.addAll(List.of(
                "io.dyber.zernel.record.cli.Record", "-o", file.toString(), "-p", Long.toString(sleeper.pid())));
        long start = System.nanoTime();
        Process recorder = new ProcessBuilder(command).start();
        try (BufferedReader lines = recorder.errorReader()) {
            String first = lines.readLine();
            long recording = System.nanoTime();
            add(millis, "all: to the first line", (recording - start) / 1e6);
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
            long interrupted = System.nanoTime();
            boolean _ = new ProcessBuilder("kill", "-INT", Long.toString(recorder.pid())).start().onExit().join().isAlive();
            if (recorder.onExit().join().exitValue() != 0) {
                throw new IOException("recording: " + first);
            }
            add(millis, "all: from SIGINT to the end", (System.nanoTime() - interrupted) / 1e6);
        } finally {
            sleeper.destroy();
        }
        Files.delete(file);
    }

    private static List<String> freshJvm() throws IOException {
        List<String> command = javaCommand();
        command.addAll(List.of(StartBenchmark.class.getName(), "once", Long.toString(System.currentTimeMillis())));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    private static List<String> javaCommand() {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        return command;
    }

    private static void once(long startedMillis) {
        say("JVM", (double) (System.currentTimeMillis() - startedMillis));
        long start = System.nanoTime();
        Schema schema = CompiledPrograms.schema(List.of());
        long read = part("read the schema", start);
        RecordOptions options = RecordOptions.to(Path.of("unused.parquet"))
                .attachedTo(Set.of((int) ProcessHandle.current().pid()));
        try (BpfPrograms kernel = new BpfPrograms(options, schema, RingSizes.within(OptionalLong.empty()))) {
            long loaded = part("load the programs", read);
            WarmUp.begin(schema).await();
            long warm = part("warm up", loaded);
            CallCost cost = CallCost.measure(kernel, schema);
            long measured = part("measure a call" + (cost.isKnown() ? "" : ": " + cost.method()), warm);
            SystemCallCost systemCall = SystemCallCost.measure(kernel, schema);
            long priced = part("measure a system call" + (systemCall.isKnown() ? "" : ": " + systemCall.method()), measured);
            kernel.attach();
            long attached = part("attach to the kernel", priced);
            kernel.detach();
            long _ = part("detach", attached);
        }
    }

    private static long part(String name, long since) {
        long now = System.nanoTime();
        say(name, (now - since) / 1e6);
        return now;
    }

    private static void say(String part, double millis) {
        System.out.println(PART + part + "=" + millis);
    }
}
