package io.dyber.zernel.serve.watch;

import io.dyber.zernel.serve.watch.ScreenLine.Style;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Draws snapshots as a screen of text: what the busiest process spends its steps on, how that changes, the GPUs, what
/// to fix, and a table of all processes that fills what is left.
///
/// Not thread-safe.
public final class WatchScreen {
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
    private static final int LABEL = 16;
    private static final int LARGE = 40;

    private final JsonMapper json = new JsonMapper();
    private final ZoneId zone;
    private final String address;
    private final boolean colours;
    private final SnapshotHistory history = new SnapshotHistory();
    private @Nullable JsonNode latest;
    private @Nullable JsonNode held;
    private String connection = "connecting";
    private boolean connected;
    private ProcessTable.Order order = ProcessTable.Order.STEPS;
    private int firstRow;

    /// How a phase is drawn: by colour, and for those who see none by character.
    private enum PhaseLook {
        DATA_LOADING("▓", Style.YELLOW),
        GPU_COMPUTE("█", Style.GREEN),
        NCCL_COLLECTIVE("▒", Style.MAGENTA),
        OPTIMIZER_STEP("▞", Style.BLUE),
        UNKNOWN("░", Style.DIM);

        private final String mark;
        private final Style style;

        PhaseLook(String mark, Style style) {
            this.mark = mark;
            this.style = style;
        }

        private double share(JsonNode phases) {
            return phases.path(name().toLowerCase(Locale.ROOT)).asDouble(0);
        }

        private String words() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /// A screen without a snapshot yet.
    ///
    /// @param address shown to the user
    public WatchScreen(String address, ZoneId zone, boolean colours) {
        this.address = address;
        this.zone = zone;
        this.colours = colours;
    }

    /// Takes a snapshot's JSON.
    public void accept(String snapshot) {
        JsonNode node = json.readTree(snapshot);
        latest = node;
        connection = "connected";
        connected = true;
        history.add(node.path("zernel"));
    }

    /// Takes the news that there is no connection.
    public void disconnected(String why, Duration retry) {
        connection = "not connected: " + why + "; trying again in " + retry.toSeconds() + " s";
        connected = false;
    }

    /// Takes a key that the user has pressed: `p` holds the screen still, `j` and `k` scroll the table, others order it.
    public void key(int key) {
        if (key == 'j') {
            int rows = latest == null ? 0 : latest.path("zernel").path("processes").size();
            firstRow = Math.min(firstRow + 1, Math.max(0, rows - 1));
        }
        if (key == 'k') {
            firstRow = Math.max(0, firstRow - 1);
        }
        if (key == 'p' || key == ' ') {
            held = held == null ? latest : null;
        }
        for (ProcessTable.Order one : ProcessTable.Order.values()) {
            if (one.key() == key) {
                order = one;
            }
        }
    }

    /// At most `height` lines of at most `width` characters.
    public List<String> draw(int width, int height) {
        List<ScreenLine> lines = new ArrayList<>();
        JsonNode now = held == null ? latest : held;
        lines.add(line(width).add(Style.BOLD, "Zernel").add(Style.RED, held == null ? "" : "  paused").add("  ")
                .add(connected ? Style.GREEN : Style.RED, connection).add("  " + address));
        if (now == null) {
            lines.add(line(width));
            lines.add(line(width).add("start a server: zernel serve run.parquet"));
        } else {
            fill(now, lines, width, height);
        }
        if (height != Integer.MAX_VALUE) {
            while (lines.size() < height - 1) {
                lines.add(line(width));
            }
            lines.subList(Math.max(1, height - 1), lines.size()).clear();
            lines.add(line(width).add(Style.DIM, "q quit  p pause  j k scroll  order by: " + ProcessTable.Order.help(order)));
        }
        return lines.stream().limit(Math.max(1, height)).map(ScreenLine::toString).toList();
    }

    private ScreenLine line(int width) {
        return new ScreenLine(width, colours);
    }

    private void fill(JsonNode now, List<ScreenLine> lines, int width, int height) {
        JsonNode more = now.path("zernel");
        boolean large = height >= LARGE;
        lines.add(source(more, line(width)));
        addAlerts(more.path("alerts"), lines, width, large ? 5 : 1);
        JsonNode first = ProcessTable.sorted(more, ProcessTable.Order.STEPS).stream()
                .findFirst()
                .orElse(json.missingNode());
        if (!first.isMissingNode()) {
            addProcess(first, lines, width);
        }
        addGpus(now, lines, width, large ? 8 : 2);
        addFindings(more.path("findings"), lines, width, large ? 8 : 3, large);
        new ProcessTable(now, order, firstRow).addTo(lines, () -> line(width), large ? height / 3 : Math.max(3, height - 1 - lines.size()));
        addTimings(more.path("timings"), lines, width);
    }

    private ScreenLine source(JsonNode more, ScreenLine line) {
        JsonNode source = more.path("source");
        String note = source.path("note").asString("");
        long lost = (long) more.path("lost").asDouble(0);
        long events = (long) more.path("events").asDouble(0);
        Instant time = Instant.ofEpochMilli((long) more.path("event_time_ms").asDouble(0));
        return line.add("%s %s of %s  %s%,d events, ".formatted(
                        source.path("mode").asString("?"),
                        source.path("speed").asString(""),
                        source.path("path").asString("?"),
                        events > 0 ? CLOCK.format(time.atZone(zone)) + "  " : "", // it begins with the first event
                        events))
                .add(lost > 0 ? Style.RED : Style.PLAIN, "%,d lost".formatted(lost))
                .add(note.isEmpty() ? "" : "  (" + note + ")");
    }

    private void addAlerts(JsonNode alerts, List<ScreenLine> lines, int width, int most) {
        List<JsonNode> raised = StreamSupport.stream(alerts.spliterator(), false)
                .filter(alert -> alert.path("state").asString("").matches("firing|pending"))
                .toList();
        raised.stream().limit(most).forEach(alert -> {
            String state = alert.path("state").asString("");
            lines.add(line(width)
                    .add(state.equals("firing") ? Style.RED : Style.YELLOW, "ALERT " + state + " ")
                    .add(alert.path("name").asString("?") + "  " + alert.path("text").asString(""))
                    .add(raised.size() > most ? "  and " + (raised.size() - most) + " more" : ""));
        });
        if (raised.isEmpty()) {
            lines.add(line(width).add(Style.DIM, alerts.isMissingNode() ? "" : "no alert"));
        }
    }

    private void addProcess(JsonNode process, List<ScreenLine> lines, int width) {
        String pid = process.path("pid").asString("?");
        JsonNode phases = process.path("phases");
        lines.add(line(width).add(Style.BOLD, process.path("comm").asString("") + " " + pid)
                .add("  %,d steps  step p50 %s  p99 %s".formatted(
                        (long) process.path("steps").asDouble(0),
                        Glyphs.millis(process.at("/step/p50_ms")),
                        Glyphs.millis(process.at("/step/p99_ms")))));
        ScreenLine bar = line(width);
        ScreenLine legend = line(width);
        double before = 0;
        for (PhaseLook phase : PhaseLook.values()) {
            double share = phase.share(phases);
            int cells = (int) (Math.round((before + share) * width) - Math.round(before * width));
            bar.add(phase.style, phase.mark.repeat(Math.max(0, cells)));
            before += share;
            if (share > 0) {
                legend.add(phase.style, phase.mark).add(" %s %.0f %%  ".formatted(phase.words(), 100 * share));
            }
        }
        lines.add(bar);
        lines.add(legend);
        addSpark("step p50", "zernel_step_seconds", "p50_ms", pid, lines, width);
        addSpark("data wait p50", "zernel_dataloader_wait_seconds", "p50_ms", pid, lines, width);
        addSpark("launch p99", "zernel_cuda_launch_latency_seconds", "p99_ms", pid, lines, width);
        addSpark("NCCL p99", "zernel_nccl_collective_duration_seconds", "p99_ms", pid, lines, width);
    }

    private void addSpark(
            String label, String metric, String quantile, String pid, List<ScreenLine> lines, int width) {
        Deque<Double> values = history.of(metric, pid, quantile);
        if (!values.isEmpty()) {
            lines.add(line(width).add("  %-14s%10s  ".formatted(label, Glyphs.millis(values.getLast())))
                    .add(Style.BLUE, Glyphs.sparkline(values, width - 28)));
        }
    }

    private void addGpus(JsonNode now, List<ScreenLine> lines, int width, int most) {
        int barWidth = Math.clamp(width / 4, 10, 40);
        int until = lines.size() + most;
        for (JsonNode gpu : now.at("/zernel/gpus")) {
            double used = gpu.path("memory_used_bytes").asDouble(0);
            double total = gpu.path("memory_total_bytes").asDouble(0);
            double busy = gpu.path("utilization").asDouble(0);
            if (lines.size() < until) {
                lines.add(line(width).add("  %-6s".formatted("GPU " + gpu.path("gpu_id").asString("?")))
                        .add(Style.GREEN, Glyphs.bar(busy, barWidth))
                        .add(" %3.0f %% busy  ".formatted(100 * busy))
                        .add(used > 0.95 * total ? Style.RED : Style.BLUE, Glyphs.bar(total > 0 ? used / total : 0, barWidth / 2))
                        .add(" %s of %s GiB".formatted(Glyphs.gibibytes(used), Glyphs.gibibytes(total)))
                        .add(active(gpu)));
            }
        }
        for (JsonNode use : now.path("gpu_utilization")) {
            double current = use.path("current_bytes").asDouble(0);
            double peak = use.path("peak_bytes").asDouble(0);
            if (lines.size() < until) {
                lines.add(line(width).add(("  %-" + LABEL + "s").formatted("pid " + use.path("key").asString("?").replace(":", " GPU ")))
                        .add(Style.BLUE, Glyphs.bar(peak > 0 ? current / peak : 0, barWidth))
                        .add(" %s of its peak %s GiB".formatted(Glyphs.gibibytes(current), Glyphs.gibibytes(peak))));
            }
        }
    }

    /// What hardware counters say, where there are any.
    private static String active(JsonNode gpu) {
        return gpu.path("sm_active").isNumber()
                ? "  SMs %.0f %%, tensor %.0f %%, DRAM %.0f %%".formatted(
                        100 * gpu.path("sm_active").asDouble(0),
                        100 * gpu.path("tensor_active").asDouble(0),
                        100 * gpu.path("dram_active").asDouble(0))
                : "";
    }

    private void addFindings(JsonNode found, List<ScreenLine> lines, int width, int most, boolean advice) {
        if (found.path("findings").isEmpty()) {
            return;
        }
        lines.add(line(width).add(Style.BOLD, "What to fix, first what costs most"));
        int shown = 0;
        for (JsonNode finding : found.path("findings")) {
            if (shown++ == most) {
                break;
            }
            JsonNode lost = finding.path("lost_ms_per_step");
            lines.add(line(width)
                    .add(finding.path("severity").asString("").equals("high") ? Style.RED : Style.YELLOW,
                            "  %10s  ".formatted(lost.isNumber() ? Glyphs.millis(lost) : ""))
                    .add(finding.path("title").asString("") + " (" + finding.path("subject").asString("") + ")"));
            if (advice) {
                if (finding.path("lines").path(0).isString()) {
                    lines.add(line(width).add(" ".repeat(14) + finding.path("lines").path(0).asString("")));
                }
                lines.add(line(width).add(Style.DIM, " ".repeat(14) + finding.path("advice").asString("")));
            }
        }
    }

    private void addTimings(JsonNode timings, List<ScreenLine> lines, int width) {
        if (timings.isEmpty()) {
            return;
        }
        lines.add(line(width));
        lines.add(line(width).add(Style.BOLD,
                "%-42s %10s %11s %11s".formatted("timings of the last minute", "count", "p50", "p99")));
        for (JsonNode timing : timings) {
            List<String> labels = new ArrayList<>();
            timing.path("labels").properties().forEach(label -> labels.add(label.getValue().asString("")));
            String name = timing.path("metric").asString("?").replaceAll("^zernel_|_seconds$", "");
            lines.add(line(width).add("  %-40s %,10d %11s %11s".formatted(
                    name + " " + String.join(" ", labels),
                    (long) timing.path("count").asDouble(0),
                    Glyphs.millis(timing.path("p50_ms")),
                    Glyphs.millis(timing.path("p99_ms")))));
        }
    }
}
