package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.Comparison;
import io.dyber.zernel.record.event.Batch;
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

/// Columns to the finished file, the whole sink at full speed: CPU time of the process per event with the JIT compilers
/// that the recorder uses and with others, in new JVMs that take turns. Warming up is part of it, as in a recording.
///
/// Its memory has, beside the recorder's, some 50 MiB of events that are written again and again.
final class SinkBenchmark {
    private static final int ROUNDS = 3;
    private static final long EVENTS = 8_000_000;

    private SinkBenchmark() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length > 0) {
            System.out.println(record(Long.parseLong(args[0])));
            return;
        }
        Comparison cpu = new Comparison("Columns to run.parquet, " + MixedEvents.DESCRIPTION, "ns CPU/event");
        Comparison stop = new Comparison("Stop to final file, after " + EVENTS / 1_000_000 + " M events", "ms");
        Map<String, List<String>> ways = new LinkedHashMap<>();
        ways.put("C1, as the launcher starts the recorder", List.of("-XX:TieredStopAtLevel=1"));
        ways.put("C1 and C2", List.of());
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, List<String>> way : ways.entrySet()) {
                String[] result = child(way.getValue());
                cpu.add(way.getKey(), Double.parseDouble(result[0]));
                stop.add(way.getKey(), Double.parseDouble(result[1]));
                cpu.note(way.getKey(), result[2] + " B/event, " + result[3] + " MiB at most");
            }
        }
        cpu.print();
        stop.print();
    }

    private static String[] child(List<String> flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--"))
                .forEach(command::add);
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SinkBenchmark.class.getName()));
        command.add(Long.toString(EVENTS));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String result = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException("measuring with " + flags + ": exit " + process.exitValue());
        }
        return result.split(" ");
    }

    /// CPU nanoseconds per event, milliseconds from stop to the file, bytes per event, most MiB of memory.
    private static String record(long count) throws IOException {
        MixedEvents events = new MixedEvents(32);
        Path folder = Files.createTempDirectory("zernel-benchmark");
        Path output = folder.resolve("run.parquet");
        long before = cpuNanos();
        long written = 0;
        long stopped;
        try (RecordingFile file =
                RecordingFile.create(output, events.schema().columns(), events.texts(), new RecordingFile.Options())) {
            while (written < count) {
                for (Batch batch : events.batches()) {
                    file.write(batch);
                    written += batch.rows();
                }
                events.later();
            }
            stopped = System.nanoTime();
            file.finish(Map.of());
        }
        String result = String.format(
                Locale.ROOT,
                "%.1f %.0f %.2f %d",
                (double) (cpuNanos() - before) / written,
                (System.nanoTime() - stopped) / 1e6,
                (double) Files.size(output) / written,
                mostMemory() >> 10);
        Files.delete(output);
        Files.delete(folder);
        return result;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /// KiB.
    private static long mostMemory() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }
}
