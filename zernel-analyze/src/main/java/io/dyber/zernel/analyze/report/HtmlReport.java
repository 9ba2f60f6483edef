package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.SqlLibrary;
import io.dyber.zernel.analyze.SqlObject;
import io.dyber.zernel.analyze.Table;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The report as one HTML page that needs nothing else: no scripts, no fonts, no network.
///
/// @param out where the page goes; not closed here
/// @param library where the SQL of a finding is, which the page shows folded
public record HtmlReport(PrintWriter out, SqlLibrary library) implements ReportFormat {
    private static final int MOST_ROWS = 100;
    private static final Map<String, String> TABLES = tables();

    @Override
    public void write(Report report) {
        List<Table.Row> recordings = report.section("recordings").rows();
        String title = "Zernel: " + recordings.getFirst().text("path");
        out.println("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
        out.println("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        out.println("<title>" + Html.text(title) + "</title>\n<style>\n" + Html.STYLE + "</style>\n</head>\n<body>");
        recordings.forEach(this::recording);
        findings(report.diagnosis());
        TrainingHtml training = new TrainingHtml(out, report);
        report.section("training_threads").rows().forEach(training::write);
        memory(report.section("memory_curve").rows());
        TABLES.forEach((section, heading) -> table(heading, report.section(section)));
        out.println("</body>\n</html>");
    }

    private void recording(Table.Row row) {
        out.println("<h1>" + Html.text(row.text("path")) + "</h1>");
        String state = row.flag("complete") ? "complete" : "INCOMPLETE";
        out.println("<p class=\"facts\">" + state + (row.flag("simulated") ? ", simulated: not a real job" : "") + ", "
                + Quantity.count(row.integer("events")) + " events"
                + (row.isNull("host") ? "" : " on " + Html.text(row.text("host"))) + "</p>");
        for (String column : List.of("command", "note", "incomplete_because")) {
            String value = row.text(column);
            if (value != null && !value.isEmpty()) {
                out.println("<p class=\"facts\"><code>" + Html.text(value) + "</code></p>");
            }
        }
    }

    private void findings(Diagnosis diagnosis) {
        out.println("<h2>Findings</h2>");
        if (diagnosis.findings().isEmpty()) {
            out.println("<p>No finding of the library applies. That is no proof of health.</p>");
        }
        for (Finding finding : diagnosis.findings()) {
            out.println("<article class=\"" + Html.text(finding.severity()) + "\"><h3>" + Html.text(finding.title())
                    + "</h3>");
            out.println("<p><b>" + Html.text(finding.subject()) + "</b>: " + Html.text(FindingsText.amount(finding))
                    + Html.text(FindingsText.gain(finding)) + "</p>");
            out.println("<dl><dt>why</dt><dd>" + Html.text(finding.evidence()) + "</dd><dt>try</dt><dd>"
                    + Html.text(finding.advice()) + "</dd><dt>next</dt><dd><code>" + Html.text(finding.nextCommand())
                    + "</code></dd></dl>");
            SqlObject sql = library.find(finding.name());
            if (sql != null) {
                out.println("<details><summary>SQL of " + Html.text(finding.name()) + "</summary><pre>"
                        + Html.text(sql.sql()) + "</pre></details>");
            }
            out.println("</article>");
        }
        out.println("<p>" + Html.text(diagnosis.skippedText()) + "</p>");
    }

    private void memory(List<Table.Row> points) {
        Map<String, List<Table.Row>> curves = new LinkedHashMap<>();
        for (Table.Row point : points) {
            String device = point.isNull("device") ? "" : ", device " + point.text("device");
            curves.computeIfAbsent("pid " + point.text("pid") + device, _ -> new ArrayList<>()).add(point);
        }
        if (!curves.isEmpty()) {
            out.println("<h2>GPU memory</h2>");
        }
        curves.forEach((name, rows) -> {
            long peak = rows.stream().mapToLong(row -> row.integer("live_bytes")).max().orElse(0);
            long torch = rows.stream().mapToLong(row -> row.integer("allocated_bytes")).max().orElse(0);
            long top = Math.max(1, Math.max(peak, torch));
            out.println("<h3>" + Html.text(name) + "</h3>");
            out.println("<p>Allocated from the driver at most " + Quantity.size(peak) + ", handed out by PyTorch at most "
                    + Quantity.size(torch) + " (darker).</p>");
            out.println(Html.bars("memory", List.of(heights(rows, "live_bytes", top), heights(rows, "allocated_bytes", top))));
        });
    }

    private static List<Double> heights(List<Table.Row> rows, String column, long top) {
        return rows.stream().map(row -> (double) row.integer(column) / top).toList();
    }

    private void table(String heading, Table table) {
        if (table.rows().isEmpty()) {
            return;
        }
        out.println("<h2>" + Html.text(heading) + "</h2>\n<div class=\"wide\"><table>\n<tr>");
        table.columns().forEach(column ->
                out.print("<th>" + Html.text(column.name().replaceFirst("_(ns|bytes)$", "").replace('_', ' ')) + "</th>"));
        out.println("</tr>");
        for (Table.Row row : table.rows().subList(0, Math.min(MOST_ROWS, table.rows().size()))) {
            out.print("<tr>");
            for (int i = 0; i < table.columns().size(); i++) {
                cell(table.columns().get(i).name(), row.values().get(i));
            }
            out.println("</tr>");
        }
        out.println("</table></div>");
        if (table.rows().size() > MOST_ROWS) {
            out.println("<p>and " + (table.rows().size() - MOST_ROWS) + " more rows</p>");
        }
    }

    private void cell(String column, @Nullable Object value) {
        switch (value) {
            case null -> out.print("<td></td>");
            case Number number -> out.print("<td class=\"n\">" + Quantity.ofColumn(column, number) + "</td>");
            default -> out.print("<td>" + Html.text(value.toString()) + "</td>");
        }
    }

    private static Map<String, String> tables() {
        Map<String, String> tables = new LinkedHashMap<>();
        tables.put("gpu_usage", "GPUs, as the driver saw them");
        tables.put("launches", "Kernel launches, time to enqueue");
        tables.put("copies", "Copies, time of the call");
        tables.put("syncs", "Waits for the GPU, blocked time");
        tables.put("memory_use", "GPU memory by process");
        tables.put("collectives", "Collectives, time to enqueue");
        tables.put("late_ranks", "Ranks that came last");
        tables.put("dist_waits", "Waits for other ranks, blocked time");
        tables.put("marks", "Marks");
        tables.put("percentiles", "Durations, times on the CPU side");
        tables.put("kinds", "What was probed");
        tables.put("losses", "Lost events");
        tables.put("processes", "Processes");
        return tables;
    }

    /// One training thread: steps as bars, phases as one bar of 100 %.
    private record TrainingHtml(PrintWriter out, Report report) {
        void write(Table.Row thread) {
            out.println("<h2>Training: pid " + thread.text("pid")
                    + (thread.integer("tid") == thread.integer("pid") ? "" : " tid " + thread.text("tid")) + "</h2>");
            if (thread.integer("steps") > 0) {
                out.println(String.format(
                        Locale.ROOT,
                        "<p>%s steps (by %s): p50 %s, p90 %s, p99 %s; first %s</p>",
                        Quantity.count(thread.integer("steps")),
                        Html.text(thread.text("step_source")),
                        Quantity.time(thread.integer("step_p50_ns")),
                        Quantity.time(thread.integer("step_p90_ns")),
                        Quantity.time(thread.integer("step_p99_ns")),
                        Quantity.time(thread.integer("first_step_ns"))));
                List<Table.Row> curve = report.rowsOf("step_curve", thread);
                long top = curve.stream().mapToLong(row -> row.integer("max_ns")).max().orElse(1);
                out.println(Html.bars("steps", List.of(heights(curve, "max_ns", Math.max(1, top)))));
            }
            phases(thread);
        }

        private void phases(Table.Row thread) {
            List<Table.Row> phases = report.rowsOf("phases", thread);
            List<String> percents = Percentages.summingTo100(
                    phases.stream().map(phase -> phase.integer("total_ns")).toList());
            out.print("<div class=\"stack\">");
            for (int i = 0; i < phases.size(); i++) {
                out.print("<span class=\"" + Html.text(phases.get(i).text("phase")) + "\" style=\"width:"
                        + percents.get(i) + "%\"></span>");
            }
            out.println("</div>\n<table class=\"phases\">");
            for (int i = 0; i < phases.size(); i++) {
                Table.Row phase = phases.get(i);
                long steps = Math.max(1, thread.integer("steps"));
                out.println("<tr><td><span class=\"key " + Html.text(phase.text("phase")) + "\"></span>"
                        + Html.text(phase.text("phase")) + "</td><td class=\"n\">" + percents.get(i)
                        + " %</td><td class=\"n\">" + Quantity.time((double) phase.integer("total_ns") / steps)
                        + "/step</td></tr>");
            }
            out.println("</table>\n<p class=\"facts\">Wall time on the CPU side, not GPU time.</p>");
        }
    }
}
