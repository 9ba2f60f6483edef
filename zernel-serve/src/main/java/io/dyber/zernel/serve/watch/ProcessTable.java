package io.dyber.zernel.serve.watch;

import io.dyber.zernel.serve.watch.ScreenLine.Style;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/// The training processes of a snapshot as rows.
final class ProcessTable {
    private final JsonNode more;
    private final JsonNode memory;
    private final Order order;

    /// What the table may be ordered by, largest first.
    enum Order {
        STEPS('s', "steps"),
        TIME('t', "step time"),
        WAIT('w', "data wait"),
        LAUNCH('l', "launch");

        private final char key;
        private final String words;

        Order(char key, String words) {
            this.key = key;
            this.words = words;
        }

        char key() {
            return key;
        }

        /// All of them with their keys, the chosen one marked.
        static String help(Order chosen) {
            return Arrays.stream(values())
                    .map(order -> order.key + " " + order.words + (order == chosen ? "*" : ""))
                    .collect(Collectors.joining("  "));
        }
    }

    ProcessTable(JsonNode snapshot, Order order) {
        this.more = snapshot.path("zernel");
        this.memory = snapshot.path("gpu_utilization");
        this.order = order;
    }

    /// The processes of the part `zernel` of a snapshot.
    static List<JsonNode> sorted(JsonNode more, Order order) {
        ToDoubleFunction<JsonNode> size = switch (order) {
            case STEPS -> process -> process.path("steps").asDouble(0);
            case TIME -> process -> process.at("/step/p50_ms").asDouble(0);
            case WAIT -> process -> quantile(more, "zernel_dataloader_wait_seconds", process, "p50_ms").asDouble(0);
            case LAUNCH -> process -> quantile(more, "zernel_cuda_launch_latency_seconds", process, "p99_ms").asDouble(0);
        };
        return StreamSupport.stream(more.path("processes").spliterator(), false)
                .sorted(Comparator.comparingDouble(size).reversed())
                .toList();
    }

    /// Adds the header and at most so many rows; nothing when there are none.
    void addTo(List<ScreenLine> lines, Supplier<ScreenLine> empty, int rows) {
        List<JsonNode> processes = sorted(more, order);
        if (processes.isEmpty()) {
            return;
        }
        lines.add(empty.get());
        lines.add(empty.get().add(Style.BOLD, "%-8s %-13.13s %7s %9s %9s %9s %10s %5s".formatted(
                "pid", "process", "steps", "step p50", "step p99", "wait p50", "launch p99", "GiB")));
        processes.stream().limit(Math.max(1, rows - 2)).forEach(process -> lines.add(empty.get().add(
                "%-8s %-13.13s %,7d %9s %9s %9s %10s %5s".formatted(
                        process.path("pid").asString("?"),
                        process.path("comm").asString(""),
                        (long) process.path("steps").asDouble(0),
                        Glyphs.millis(process.at("/step/p50_ms")),
                        Glyphs.millis(process.at("/step/p99_ms")),
                        Glyphs.millis(quantile(more, "zernel_dataloader_wait_seconds", process, "p50_ms")),
                        Glyphs.millis(quantile(more, "zernel_cuda_launch_latency_seconds", process, "p99_ms")),
                        Glyphs.gibibytes(memoryOf(process.path("pid").asString("?")))))));
    }

    private static JsonNode quantile(JsonNode more, String metric, JsonNode process, String quantile) {
        for (JsonNode timing : more.path("timings")) {
            if (timing.path("metric").asString("").equals(metric)
                    && timing.at("/labels/pid").equals(process.path("pid"))) {
                return timing.path(quantile);
            }
        }
        return more.path("no such timing");
    }

    private double memoryOf(String pid) {
        return StreamSupport.stream(memory.spliterator(), false)
                .filter(use -> use.path("key").asString("").startsWith(pid + ":"))
                .mapToDouble(use -> use.path("current_bytes").asDouble(0))
                .sum();
    }
}
