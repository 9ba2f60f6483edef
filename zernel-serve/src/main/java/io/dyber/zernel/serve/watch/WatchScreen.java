package io.dyber.zernel.serve.watch;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Draws snapshots as lines of text. Remembers the latest step times for the sparklines.
///
/// Not thread-safe.
public final class WatchScreen {
    private static final String SPARKS = "▁▂▃▄▅▆▇█";
    private static final int HISTORY = 60;
    private static final int BAR = 30;
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    private final JsonMapper json = new JsonMapper();
    private final ZoneId zone;
    private final String address;
    private final Map<String, Deque<Double>> stepMillis = new HashMap<>();
    private @Nullable JsonNode latest;
    private String connection = "connecting";

    /// A screen without a snapshot yet.
    ///
    /// @param address shown to the user
    public WatchScreen(String address, ZoneId zone) {
        this.address = address;
        this.zone = zone;
    }

    /// Takes a snapshot's JSON.
    public void accept(String snapshot) {
        JsonNode node = json.readTree(snapshot);
        latest = node;
        connection = "connected";
        for (JsonNode process : node.path("zernel").path("processes")) {
            Deque<Double> history =
                    stepMillis.computeIfAbsent(process.path("pid").asString(""), _ -> new ArrayDeque<>());
            if (process.path("step").path("p50_ms").isNumber()) {
                history.addLast(process.path("step").path("p50_ms").doubleValue());
            }
            if (history.size() > HISTORY) {
                history.removeFirst();
            }
        }
    }

    /// Takes the news that there is no connection.
    public void disconnected(String why, Duration retry) {
        connection = "not connected: " + why + "; trying again in " + retry.toSeconds() + " s";
    }

    /// At most `height` lines of at most `width` characters.
    public List<String> draw(int width, int height) {
        List<String> lines = new ArrayList<>();
        JsonNode now = latest;
        lines.add("Zernel  " + connection + "  " + address);
        if (now == null) {
            lines.add("");
            lines.add("start a server: zernel serve run.parquet");
        } else {
            JsonNode more = now.path("zernel");
            lines.add(source(more));
            lines.add("");
            more.path("processes").forEach(process -> addProcess(process, lines));
            addMemory(now.path("gpu_utilization"), lines);
            addTimings(more.path("timings"), lines);
        }
        return lines.stream()
                .limit(Math.max(1, height))
                .map(line -> line.length() > width ? line.substring(0, Math.max(0, width)) : line)
                .toList();
    }

    private String source(JsonNode more) {
        JsonNode source = more.path("source");
        String note = source.path("note").asString("");
        return "%s %s of %s  %s  %,d events, %,d lost%s"
                .formatted(
                        source.path("mode").asString("?"),
                        source.path("speed").asString(""),
                        source.path("path").asString("?"),
                        CLOCK.format(Instant.ofEpochMilli((long) more.path("event_time_ms").asDouble(0))
                                .atZone(zone)),
                        (long) more.path("events").asDouble(0),
                        (long) more.path("lost").asDouble(0),
                        note.isEmpty() ? "" : "  (" + note + ")");
    }

    private void addProcess(JsonNode process, List<String> lines) {
        String pid = process.path("pid").asString("?");
        JsonNode step = process.path("step");
        lines.add("pid %s %s  %,d steps  step p50 %s  p99 %s  %s"
                .formatted(
                        pid,
                        process.path("comm").asString(""),
                        (long) process.path("steps").asDouble(0),
                        millis(step.path("p50_ms")),
                        millis(step.path("p99_ms")),
                        spark(stepMillis.getOrDefault(pid, new ArrayDeque<>()))));
        process.path("phases").properties().forEach(phase -> lines.add("  %-16s %s %3.0f %%"
                .formatted(phase.getKey(), bar(phase.getValue().asDouble(0)), 100 * phase.getValue().asDouble(0))));
        lines.add("");
    }

    private static void addMemory(JsonNode gpus, List<String> lines) {
        if (gpus.isEmpty()) {
            return;
        }
        lines.add("GPU memory (pid:device), of its peak");
        for (JsonNode gpu : gpus) {
            double current = gpu.path("current_bytes").asDouble(0);
            double peak = gpu.path("peak_bytes").asDouble(0);
            lines.add("  %-16s %s %.2f of %.2f GiB"
                    .formatted(
                            gpu.path("key").asString("?"),
                            bar(peak > 0 ? current / peak : 0),
                            current / (1L << 30),
                            peak / (1L << 30)));
        }
        lines.add("");
    }

    private static void addTimings(JsonNode timings, List<String> lines) {
        if (timings.isEmpty()) {
            return;
        }
        lines.add("%-38s %10s %11s %11s".formatted("timings of the last minute", "count", "p50", "p99"));
        for (JsonNode timing : timings) {
            List<String> labels = new ArrayList<>();
            timing.path("labels").properties().forEach(label -> labels.add(label.getValue().asString("")));
            String name = timing.path("metric").asString("?").replaceAll("^zernel_|_seconds$", "");
            lines.add("  %-36s %,10d %11s %11s"
                    .formatted(
                            name + " " + String.join(" ", labels),
                            (long) timing.path("count").asDouble(0),
                            millis(timing.path("p50_ms")),
                            millis(timing.path("p99_ms"))));
        }
    }

    private static String millis(JsonNode value) {
        if (!value.isNumber()) {
            return "-";
        }
        double millis = value.doubleValue();
        return millis < 1 ? "%.0f us".formatted(millis * 1000) : "%.1f ms".formatted(millis);
    }

    private static String bar(double share) {
        int full = (int) Math.round(Math.clamp(share, 0, 1) * BAR);
        return "█".repeat(full) + "░".repeat(BAR - full);
    }

    private static String spark(Deque<Double> values) {
        double largest = values.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        StringBuilder line = new StringBuilder();
        for (double value : values) {
            int level = largest == 0 ? 0 : (int) Math.round(value / largest * (SPARKS.length() - 1));
            line.append(SPARKS.charAt(level));
        }
        return line.toString();
    }
}
