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
    private static final String FACTS = "%-8s %-13.13s %7s %9s %9s";
    private static final String TIMES = " %9s %10s %5s";

    private final JsonNode more;
    private final JsonNode memory;
    private final Order order;
    private final int first;

    /// What the table may be ordered by, largest first; ranks from the first on.
    enum Order {
        STEPS('s', "steps"),
        RANK('r', "rank"),
        TIME('t', "step time"),
        LATE('a', "late"),
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

    /// @param first how many rows are scrolled away
    ProcessTable(JsonNode snapshot, Order order, int first) {
        this.more = snapshot.path("zernel");
        this.memory = snapshot.path("gpu_utilization");
        this.order = order;
        this.first = first;
    }

    /// The processes of the part `zernel` of a snapshot.
    static List<JsonNode> sorted(JsonNode more, Order order) {
        ToDoubleFunction<JsonNode> size = switch (order) {
            case STEPS -> process -> process.path("steps").asDouble(0);
            case RANK -> process -> process.path("rank").isString() ? -Long.parseLong(process.path("rank").asString()) : Double.NEGATIVE_INFINITY;
            case TIME -> process -> process.at("/step/p50_ms").asDouble(0);
            case LATE -> process -> process.path("late_p50_ms").asDouble(0);
            case WAIT -> process -> process.path("data_wait_p50_ms").asDouble(0);
            case LAUNCH -> process -> process.path("launch_p99_ms").asDouble(0);
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
        boolean ranked = processes.stream().anyMatch(ProcessTable::isRanked);
        lines.add(empty.get()
                .add(Style.BOLD, (ranked ? "rank " : "") + FACTS.formatted("pid", "process", "steps", "step p50", "step p99"))
                .add(Style.BOLD, ranked ? " late p50" : "")
                .add(Style.BOLD, TIMES.formatted("wait p50", "launch p99", "GiB")));
        processes.stream().skip(Math.min(first, processes.size() - 1)).limit(Math.max(1, rows - 2)).forEach(process -> lines.add(
                empty.get()
                        .add(ranked ? "%4s ".formatted(process.path("rank").asString("")) : "")
                        .add(FACTS.formatted(
                                process.path("pid").asString("?"),
                                process.path("comm").asString(""),
                                "%,d".formatted((long) process.path("steps").asDouble(0)),
                                Glyphs.millis(process.at("/step/p50_ms")),
                                Glyphs.millis(process.at("/step/p99_ms"))))
                        .add(lateness(process), ranked ? "%9s".formatted(Glyphs.millis(process.path("late_p50_ms"))) : "")
                        .add(TIMES.formatted(
                                Glyphs.millis(process.path("data_wait_p50_ms")),
                                Glyphs.millis(process.path("launch_p99_ms")),
                                Glyphs.gibibytes(memoryOf(process.path("pid").asString("?")))))));
    }

    private static boolean isRanked(JsonNode process) {
        return process.path("rank").isString() || process.path("late_p50_ms").isNumber();
    }

    private static Style lateness(JsonNode process) {
        return switch (process.path("lateness").asString("")) {
            case "very_late" -> Style.RED;
            case "late" -> Style.YELLOW;
            default -> Style.PLAIN;
        };
    }

    private double memoryOf(String pid) {
        return StreamSupport.stream(memory.spliterator(), false)
                .filter(use -> use.path("key").asString("").startsWith(pid + ":"))
                .mapToDouble(use -> use.path("current_bytes").asDouble(0))
                .sum();
    }
}
