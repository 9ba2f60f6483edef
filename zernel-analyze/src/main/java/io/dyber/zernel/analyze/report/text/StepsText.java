package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.KernelName;
import io.dyber.zernel.analyze.report.data.PhaseWords;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.StepWords;
import io.dyber.zernel.analyze.report.data.ThreadLabel;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Percentages;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// What a step consists of: one line of shares for one training thread, a table for several.
public record StepsText(Page page, Report report) {
    private static final String BY_CALL = "periodicity of ";
    private static final int MOST_THREADS = 8;
    private static final int WIDEST_CURVE = 60;
    private static final int NARROWEST_CURVE = 10;
    /// Columns of the views and the phases they are.
    private static final Map<String, String> PHASES = phases();

    public void write() {
        List<Table.Row> threads = report.section("training_threads").rows();
        if (threads.size() == 1) {
            one(threads.getFirst());
        } else if (!threads.isEmpty()) {
            several(threads);
        }
    }

    private void one(Table.Row thread) {
        for (Table.Row mean : report.rowsOf("step_mean", thread)) {
            page.paragraph("  " + (StepWords.infers(thread) ? "engine step " : "step ") + time(mean, "step_ns") + " = ",
                    shares(mean, Quantity.counted(mean.integer("steps"), StepWords.steady(thread)), PhaseWords.of(report, thread)));
        }
        StatesText.line(report, thread).ifPresent(states -> page.paragraph("  the thread is ", states));
        page.paragraph("  ", steps(thread, " of " + label(thread)));
        if (thread.integer("steps") == 0) {
            return;
        }
        requests(report, thread).forEach(line -> page.paragraph("  ", line));
        evaluations(report, thread).forEach(line -> page.paragraph("  ", line));
        Curve curve = curve(thread);
        String line = page.sparkline(curve.heights(), (double) curve.top(), Math.min(WIDEST_CURVE, page.width() - 32));
        page.line("  " + page.colour(36, line) + "  " + page.dim("step time, top " + Quantity.time(curve.top())));
    }

    /// How many steps, what ends one, and how long they are.
    ///
    /// @param whose ` of ` and the thread, or nothing
    public static String steps(Table.Row thread, String whose) {
        return thread.integer("steps") == 0
                ? "no steps: no boundary was seen"
                : String.format(
                        Locale.ROOT,
                        "%s (by %s)%s: p50 %s, p90 %s, p99 %s%s; %s",
                        Quantity.counted(thread.integer("steps"), StepWords.infers(thread) ? "engine step" : "step"),
                        source(thread),
                        whose,
                        Quantity.time(thread.integer("step_p50_ns")),
                        Quantity.time(thread.integer("step_p90_ns")),
                        Quantity.time(thread.integer("step_p99_ns")),
                        leftOut(thread),
                        warmUp(thread));
    }

    /// What the percentiles leave out, unless there are no other steps.
    private static String leftOut(Table.Row thread) {
        if (thread.integer("steady_steps") == 0) {
            return "";
        }
        List<String> steps = new ArrayList<>();
        leftOut(thread, "checkpoint", "that writes a checkpoint", "that write a checkpoint").ifPresent(steps::add);
        leftOut(thread, "profiler", "in which a profile begins or ends", "in which profiles begin or end").ifPresent(steps::add);
        return steps.isEmpty() ? "" : " without " + String.join(" and ", steps);
    }

    private static Optional<String> leftOut(Table.Row thread, String kind, String one, String several) {
        long steps = thread.integer(kind + "_steps");
        return steps == 0
                ? Optional.empty()
                : Optional.of(Quantity.count(steps) + " of "
                        + Quantity.time((double) thread.integer(kind + "_ns") / steps) + " " + (steps == 1 ? one : several));
    }

    /// What of the steps is no part of any figure.
    private static String warmUp(Table.Row thread) {
        long steps = thread.integer("warmup_steps");
        // Before the first batch the model is made, which nobody would look for in a step.
        boolean startsUp = thread.positions().containsKey("starts_up") && thread.flag("starts_up");
        if (steps <= 1) {
            return (startsUp ? "start-up and first step " : "first ") + Quantity.time(thread.integer("first_step_ns"));
        }
        String which = (startsUp ? "start-up and " : "")
                + (thread.integer("last_warmup_step") == steps ? "first %s steps" : "%s steps, the first and later ones");
        return String.format(Locale.ROOT, which + ", %s, are warm-up or a slower phase, and left out", Quantity.count(steps),
                Quantity.time(thread.integer("warmup_ns")));
    }

    /// Requests of inference, each with many engine steps.
    public static List<String> requests(Report report, Table.Row thread) {
        if (!report.sections().containsKey("request_times")) {
            return List.of();
        }
        return report.rowsOf("request_times", thread).stream()
                .map(times -> String.format(
                        Locale.ROOT,
                        "%s requests (from prompt to prompt), %.0f engine steps each in the median, a token of each sequence"
                                + " where text is generated",
                        Quantity.count(times.integer("requests")),
                        real(times, "steps_p50"))
                        + (times.isNull("p50_ns") ? "" : String.format(
                                Locale.ROOT,
                                ": p50 %s, p90 %s, p99 %s; first step p50 %s",
                                Quantity.time(times.integer("p50_ns")),
                                Quantity.time(times.integer("p90_ns")),
                                Quantity.time(times.integer("p99_ns")),
                                Quantity.time(times.integer("first_step_p50_ns")))))
                .toList();
    }

    /// Passes over data between training steps, which are no part of the mean step.
    public static List<String> evaluations(Report report, Table.Row thread) {
        if (!report.sections().containsKey("evaluations")) {
            return List.of();
        }
        return report.rowsOf("evaluations", thread).stream()
                .map(row -> String.format(
                        Locale.ROOT,
                        "evaluation: %s, %s of wall time, %s %s; no part of the mean step",
                        row.integer("evaluations") == 1 ? "once" : Quantity.count(row.integer("evaluations")) + " times",
                        Quantity.percent(row, "share"),
                        Quantity.time(row.integer("mean_ns")),
                        row.integer("evaluations") == 1 ? "long" : "each"))
                .toList();
    }

    private static String shares(Table.Row mean, String steady, PhaseWords words) {
        Map<String, String> percents = percents(mean);
        return PHASES.keySet().stream()
                        .sorted(Comparator.comparingDouble((String part) -> -real(mean, part)))
                        .filter(part -> !"0.0".equals(percents.get(part)))
                        .map(part -> percents.get(part) + " % " + words.words(String.valueOf(PHASES.get(part))))
                        .reduce((left, right) -> left + " + " + right)
                        .orElse("")
                + " (mean of " + steady + ", wall time of the thread)";
    }

    private static Map<String, String> percents(Table.Row mean) {
        List<String> columns = List.copyOf(PHASES.keySet());
        List<String> texts = Percentages.summingTo100(columns.stream().map(mean::integer).toList());
        Map<String, String> percents = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            percents.put(columns.get(i), texts.get(i));
        }
        return percents;
    }

    private void several(List<Table.Row> threads) {
        int labels = threads.stream().mapToInt(thread -> label(thread).length()).max().orElse(0);
        page.line(page.bold(String.format(Locale.ROOT, "  %-" + labels + "s %9s %9s %9s %9s %9s %9s", "", "mean step",
                "data", "compute", "comm", "optimizer", "unknown")));
        for (Table.Row thread : threads.subList(0, Math.min(MOST_THREADS, threads.size()))) {
            List<Table.Row> means = report.rowsOf("step_mean", thread);
            if (means.isEmpty()) {
                page.line(String.format(Locale.ROOT, "  %-" + labels + "s  no steps", label(thread)));
                continue;
            }
            Table.Row mean = means.getFirst();
            StringBuilder line = new StringBuilder(
                    String.format(Locale.ROOT, "  %-" + labels + "s %9s", label(thread), time(mean, "step_ns")));
            percents(mean).values().forEach(percent -> line.append(String.format(Locale.ROOT, " %7s %%", percent)));
            int room = Math.min(WIDEST_CURVE, page.width() - line.length() - 2);
            if (room >= NARROWEST_CURVE) {
                Curve curve = curve(thread);
                line.append("  ").append(page.colour(36, page.sparkline(curve.heights(), (double) curve.top(), room)));
            }
            page.line(line.toString());
        }
        if (threads.size() > MOST_THREADS) {
            page.line("  and " + (threads.size() - MOST_THREADS) + " more training threads: zernel-analyze phases");
        }
        threads.stream()
                .limit(MOST_THREADS)
                .forEach(thread -> requests(report, thread)
                        .forEach(line -> page.paragraph("  ", label(thread) + ": " + line)));
        threads.stream()
                .limit(MOST_THREADS)
                .forEach(thread -> evaluations(report, thread)
                        .forEach(line -> page.paragraph("  ", label(thread) + ": " + line)));
        threads.stream()
                .filter(thread -> thread.integer("warmup_steps") > 1)
                .max(Comparator.comparingLong(thread -> thread.integer("warmup_ns")))
                .ifPresent(thread -> page.paragraph("  ", label(thread) + ": " + warmUp(thread)));
    }

    /// What ends a step, and how sure that is where it was inferred.
    private static String source(Table.Row thread) {
        Double confidence = thread.real("step_confidence");
        boolean saysCalls = thread.positions().containsKey("step_calls") && thread.text("step_calls") != null;
        return brief(thread.requiredText("step_source"))
                + (saysCalls ? ", " + thread.text("step_calls") : "")
                + (confidence == null || confidence >= 1
                        ? ""
                        : String.format(Locale.ROOT, ", confidence %.2f", confidence));
    }

    /// Of a kernel that steps are told by, its name as a person reads it.
    private static String brief(String source) {
        return source.startsWith(BY_CALL) ? BY_CALL + KernelName.brief(source.substring(BY_CALL.length())) : source;
    }

    private String label(Table.Row thread) {
        return new ThreadLabel(report).of(thread);
    }

    private record Curve(List<Double> heights, long top) {}

    private Curve curve(Table.Row thread) {
        List<Table.Row> points = report.rowsOf("step_timeline", thread);
        return new Curve(points.stream().map(point -> (double) point.integer("max_ns")).toList(), top(points));
    }

    /// The slowest step that is none of warm-up, in nanoseconds: start-up would flatten all others.
    private static long top(List<Table.Row> points) {
        List<Table.Row> warm = points.stream()
                .filter(point -> point.integer("first_step") > 1 && !"warmup".equals(point.text("step_kind")))
                .toList();
        return Math.max(1, (warm.isEmpty() ? points : warm).stream().mapToLong(point -> point.integer("max_ns")).max().orElse(1));
    }

    private static String time(Table.Row row, String column) {
        return Quantity.time(real(row, column));
    }

    private static double real(Table.Row row, String column) {
        Double value = row.real(column);
        return value == null ? 0 : value;
    }

    private static Map<String, String> phases() {
        Map<String, String> phases = new LinkedHashMap<>();
        phases.put("data_loading_ns", "DataLoading");
        phases.put("gpu_compute_ns", "GpuCompute");
        phases.put("nccl_collective_ns", "NcclCollective");
        phases.put("optimizer_step_ns", "OptimizerStep");
        phases.put("unknown_ns", "Unknown");
        return phases;
    }
}
