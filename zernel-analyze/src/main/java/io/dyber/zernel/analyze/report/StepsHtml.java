package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Table;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// One training thread as pictures: the mean step as a bar of 100 %, and its steps over time with their phases stacked.
record StepsHtml(PrintWriter out, Report report) {
    /// From the bottom of a bar to its top.
    private static final Map<String, String> PHASES = StepsText.PHASES;

    /// More bars stand without gaps, which would be thinner than a pixel.
    private static final int MOST_GAPS = 120;

    void write(Table.Row thread) {
        out.println("<h3>" + Html.text(new ThreadLabel(report).of(thread)) + "</h3>");
        for (Table.Row mean : report.rowsOf("step_mean", thread)) {
            stack(mean, StepWords.steady(thread), PhaseWords.of(report, thread));
        }
        Stream.concat(
                        StepsText.requests(report, thread).stream(),
                        StepsText.evaluations(report, thread).stream())
                .forEach(line -> out.println("<p>" + Quantity.glued(Html.text(line)) + ".</p>"));
        if (thread.integer("steps") > 0) {
            timeline(thread, report.rowsOf("step_timeline", thread));
        }
    }

    private void stack(Table.Row mean, String steady, PhaseWords words) {
        List<Long> parts = new ArrayList<>();
        PHASES.keySet().forEach(column -> parts.add(mean.integer(column)));
        List<String> percents = Percentages.summingTo100(parts);
        out.print("<div class=\"stack\" aria-hidden=\"true\">");
        List<String> phases = List.copyOf(PHASES.values());
        for (int i = 0; i < phases.size(); i++) {
            if (parts.get(i) > 0) {
                out.print("<span class=\"" + phases.get(i) + "\" style=\"flex:" + parts.get(i) + "\" title=\""
                        + words.label(phases.get(i)) + " " + percents.get(i) + " %\"></span>");
            }
        }
        out.println("</div>\n<ul class=\"legend\">");
        for (int i = 0; i < phases.size(); i++) {
            if (parts.get(i) == 0) {
                continue;
            }
            out.println("<li><span class=\"key " + phases.get(i) + "\"></span>" + words.label(phases.get(i)) + " <b>" + percents.get(i)
                    + " %</b> <span class=\"quiet\">" + Quantity.time(parts.get(i)) + "</span></li>");
        }
        out.println("</ul>\n<p class=\"quiet\">Mean of " + Quantity.count(mean.integer("steps"))
                + " " + steady + ", " + Quantity.glued(Quantity.time(mean.integer("step_ns")))
                + ": wall time of the thread" + (words.onCpuOnly() ? "" : " on the CPU, not GPU time") + ".</p>");
    }

    private void timeline(Table.Row thread, List<Table.Row> points) {
        long top = StepsText.top(points);
        PhaseWords words = PhaseWords.of(report, thread);
        out.println("<figure><div class=\"axis\"><span>" + Quantity.time(top) + "</span></div><div class=\"plot\">");
        Optional<Standstill> still = Standstill.of(report, thread);
        int end = still.isEmpty() ? points.size() : points.size() + Math.max(1, points.size() / 8);
        out.println("<svg viewBox=\"0 0 " + end + " 100\" preserveAspectRatio=\"none\" role=\"img\" "
                + "aria-label=\"Time of each step, by phase\">");
        bars(points, top);
        slowest(points, top);
        for (int x = 0; x < points.size(); x++) {
            out.println("<rect class=\"hover\" x=\"" + x + "\" y=\"0\" width=\"1\" height=\"100\"><title>"
                    + tooltip(points.get(x), words) + "</title></rect>");
        }
        still.ifPresent(one -> out.println("<rect class=\"still\" x=\"" + points.size() + "\" y=\"0\" width=\""
                + (end - points.size()) + "\" height=\"100\"><title>" + Html.text(one.sentence()) + "</title></rect>"));
        out.println("</svg></div><div class=\"axis\"><span>step 1</span><span>step "
                + Quantity.count(thread.integer("steps"))
                + still.map(one -> ", then <b class=\"tag high\">nothing for " + Quantity.time(one.nanos()) + "</b>").orElse("")
                + "</span></div>");
        out.println("<figcaption>" + still.map(one -> "<b class=\"tag high\">" + Html.prose(one.sentence()) + "</b> ").orElse("")
                + Quantity.glued(caption(thread, points, top)) + "</figcaption></figure>");
    }

    private static String caption(Table.Row thread, List<Table.Row> points, long top) {
        boolean joined = points.getLast().integer("steps") > 1;
        return String.format(
                Locale.ROOT,
                "%s %s (by %s): p50 %s, p90 %s, p99 %s; %s.%s%s",
                Quantity.count(thread.integer("steps")),
                StepWords.infers(thread) ? "engine steps" : "steps",
                Html.text(StepsText.source(thread)),
                Quantity.time(thread.integer("step_p50_ns")),
                Quantity.time(thread.integer("step_p90_ns")),
                Quantity.time(thread.integer("step_p99_ns")),
                thread.integer("warmup_steps") > 1
                        ? StepsText.warmUp(thread)
                        : "the first took " + Quantity.time(thread.integer("first_step_ns")),
                points.stream().anyMatch(point -> point.integer("max_ns") > top) ? " Warm-up is cut off." : "",
                joined ? " Bars are means of neighbours, the line is the slowest of them." : "");
    }

    /// One path for each phase: a page of many steps stays small.
    private void bars(List<Table.Row> points, long top) {
        double[] floor = new double[points.size()];
        double width = points.size() > MOST_GAPS ? 1 : 0.9;
        PHASES.forEach((column, phase) -> {
            StringBuilder path = new StringBuilder();
            for (int x = 0; x < points.size(); x++) {
                double height = 100.0 * points.get(x).integer(column) / top;
                double from = Math.min(100, floor[x]);
                double to = Math.min(100, floor[x] + height);
                floor[x] += height;
                if (to - from > 0.05) {
                    path.append(String.format(
                            Locale.ROOT, "M%d %.1fh%.1fV%.1fh-%.1fz", x, 100 - from, width, 100 - to, width));
                }
            }
            out.println("<path class=\"" + phase + "\" d=\"" + path + "\"/>");
        });
    }

    private void slowest(List<Table.Row> points, long top) {
        if (points.stream().noneMatch(point -> point.integer("steps") > 1)) {
            return;
        }
        StringBuilder path = new StringBuilder();
        for (int x = 0; x < points.size(); x++) {
            double y = Math.max(0, 100 - 100.0 * points.get(x).integer("max_ns") / top);
            path.append(String.format(Locale.ROOT, "%s%d %.1fh1", x == 0 ? "M" : "L", x, y));
        }
        out.println("<path class=\"slowest\" d=\"" + path + "\"/>");
    }

    private static String tooltip(Table.Row point, PhaseWords words) {
        long first = point.integer("first_step");
        long steps = point.integer("steps");
        StringBuilder text = new StringBuilder("step " + first);
        text.append(steps > 1 ? " to " + (first + steps - 1) + ", slowest " : " (" + point.text("step_kind") + "), ");
        text.append(Quantity.time(point.integer("max_ns")));
        PHASES.forEach((column, phase) -> {
            if (point.integer(column) > 0) {
                text.append("\n").append(words.label(phase)).append(' ').append(Quantity.time(point.integer(column)));
            }
        });
        return text.toString();
    }
}
