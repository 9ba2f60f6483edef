package io.dyber.zernel.record.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// What recording costs a PyTorch training on the CPU whose steps take some milliseconds, the worst case for a cost per
/// step. Not a test; run its `main` as root with the test class path and `ZERNEL_PYTHON`:
/// `java -cp ... io.dyber.zernel.record.live.TrainingCostBenchmark [rounds]`.
///
/// Steps per second after the first 100, all ways in turn in every round.
final class TrainingCostBenchmark {
    private static final int WARM_UP = 100;
    private static final List<String> TRAINING = List.of(
            "--steps", "1200", "--workers", "0", "--transform-ms", "0", "--batch", "16");
    private static final Map<String, List<String>> WAYS = ways();

    private TrainingCostBenchmark() {}

    private static Map<String, List<String>> ways() {
        Map<String, List<String>> ways = new LinkedHashMap<>();
        ways.put("tier 0: --detail off", List.of("--detail", "off"));
        ways.put("tier 2: --detail all", List.of("--detail", "all"));
        ways.put("and --probe 'torch_op:*'", List.of("--probe", "torch_op:*"));
        return ways;
    }

    /// Prints one line per way.
    public static void main(String[] args) throws IOException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        Path file = Files.createTempDirectory("zernel-training-cost").resolve("run.parquet");
        List<String> command = new ArrayList<>(List.of(
                "env", "OMP_NUM_THREADS=1", Needs.python("torch"), Programs.source("train.py")));
        command.addAll(TRAINING);
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            try (Running training = Running.start(command.toArray(String[]::new))) {
                add(rates, "not recorded", training.await());
            }
            WAYS.forEach((way, options) -> add(
                    rates,
                    way,
                    Recorder.recordTo(file, options.toArray(String[]::new))
                            .with("--")
                            .with(command.toArray(String[]::new))
                            .runWell()));
        }
        double unrecorded = median(rates.getOrDefault("not recorded", List.of(1.0)));
        rates.forEach((way, values) -> System.out.printf(
                Locale.ROOT,
                "%-26s %7.0f steps/s  %6.0f..%-6.0f %5.2f x%n",
                way,
                median(values),
                values.stream().mapToDouble(d -> d).min().orElse(0),
                values.stream().mapToDouble(d -> d).max().orElse(0),
                median(values) / unrecorded));
    }

    private static void add(Map<String, List<Double>> rates, String way, Running.Outcome outcome) {
        JsonNode steps = Truth.of(outcome.out()).only().path("steps");
        long began = steps.path(WARM_UP).path("step_ns").asLong();
        long ended = steps.path(steps.size() - 1).path("step_ns").asLong();
        double rate = (steps.size() - 1 - WARM_UP) * 1e9 / (ended - began);
        rates.computeIfAbsent(way, _ -> new ArrayList<>()).add(rate);
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
