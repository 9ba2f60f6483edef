package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.SqlLibrary;
import io.dyber.zernel.analyze.Table;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The report as one HTML page that needs nothing else: no scripts, no fonts, no network.
///
/// @param out where the page goes; not closed here
/// @param library where the SQL of a finding is, which the page shows folded
public record HtmlReport(PrintWriter out, SqlLibrary library) implements ReportFormat {
    private static final int MOST_PICTURES = 16;
    private static final int MOST_OPEN = 4;
    private static final Map<String, String> TABLES = tables();

    @Override
    public void write(Report report) {
        List<Table.Row> recordings = report.section("recordings").rows();
        out.println("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
        out.println("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        out.println("<title>Zernel: " + Html.text(recordings.getFirst().text("path")) + "</title>");
        out.println("<style>\n" + Html.style() + "</style>\n</head>\n<body>");
        recordings.forEach(this::recording);
        verdict(report.verdict());
        new FindingsHtml(out, library).write(report.diagnosis());
        steps(report);
        new RanksHtml(out).write(report.section("rank_delays"));
        gpuActivity(report);
        memory(report);
        unknowns(report.unknowns());
        out.println("<h2>Tables</h2>");
        TABLES.forEach((section, heading) -> table(heading, report.section(section)));
        out.println("</body>\n</html>");
    }

    private void recording(Table.Row row) {
        out.println("<h1>" + Html.text(row.text("path")) + "</h1>");
        long length = row.integer("ended_ns") - row.integer("started_ns");
        out.println("<p class=\"quiet\">" + (row.flag("complete") ? "complete" : "<b>INCOMPLETE</b>")
                + (row.flag("simulated") ? ", simulated: not a real job" : "") + ", "
                + Quantity.count(row.integer("events")) + " events"
                + (row.isNull("ended_ns") ? "" : " in " + Quantity.glued(Quantity.time(length)))
                + (row.isNull("host") || row.flag("simulated") ? "" : " on " + Html.text(row.text("host")))
                + Started.text(row).map(moment -> ", recorded " + Html.text(moment)).orElse("") + "</p>");
        for (String column : List.of("command", "note", "incomplete_because")) {
            String value = row.text(column);
            if (value != null && !value.isEmpty()) {
                out.println("<p class=\"quiet\"><code>" + Html.text(value) + "</code></p>");
            }
        }
    }

    private void verdict(Verdict verdict) {
        out.println("<section class=\"verdict " + verdict.kind() + "\"><p>" + Html.prose(verdict.sentence()) + "</p><p>"
                + Html.prose(verdict.reason()) + "</p></section>");
    }

    private void steps(Report report) {
        List<Table.Row> threads = report.section("training_threads").rows();
        if (threads.isEmpty()) {
            return;
        }
        out.println("<h2>Steps</h2>");
        StepsHtml steps = new StepsHtml(out, report);
        threads.stream().limit(MOST_OPEN).forEach(steps::write);
        if (threads.size() > MOST_OPEN) {
            // Those of ranks are mostly alike.
            out.println("<details><summary>Steps of " + (threads.size() - MOST_OPEN) + " more training threads</summary>");
            threads.stream().skip(MOST_OPEN).limit(MOST_PICTURES - MOST_OPEN).forEach(steps::write);
            out.println("</details>");
        }
        if (threads.size() > MOST_PICTURES) {
            out.println("<p class=\"quiet\">and " + (threads.size() - MOST_PICTURES) + " more, without pictures: zernel-analyze steps</p>");
        }
    }

    private void memory(Report report) {
        List<GpuMemory> curves = GpuMemory.of(report);
        if (curves.isEmpty()) {
            return;
        }
        out.println("<h2>GPU memory</h2>\n<p class=\"quiet\">From the first allocation to the last. Pale: allocated from"
                + " the driver. Strong: of it, handed out by PyTorch.</p>");
        MemoryHtml memory = new MemoryHtml(out);
        curves.stream().limit(MOST_OPEN).forEach(memory::write);
        if (curves.size() > MOST_OPEN) {
            out.println("<details><summary>Memory of " + (curves.size() - MOST_OPEN) + " more</summary>");
            curves.stream().skip(MOST_OPEN).limit(MOST_PICTURES - MOST_OPEN).forEach(memory::write);
            out.println("</details>");
        }
    }

    private void gpuActivity(Report report) {
        List<GpuActivity> activity = GpuActivity.of(report);
        if (!activity.isEmpty()) {
            out.println("<h2>" + GpuActivity.HEADING + "</h2>\n<dl>");
            activity.forEach(fact ->
                    out.println("<dt>" + Html.text(fact.label()) + "</dt><dd>" + Html.prose(fact.text()) + "</dd>"));
            out.println("</dl>");
            GpuHtml pictures = new GpuHtml(out);
            GpuActivity.curves(report).entrySet().stream()
                    .limit(MOST_PICTURES)
                    .forEach(curve -> pictures.write(curve.getKey(), curve.getValue()));
        }
    }

    private void unknowns(Map<String, String> bounds) {
        if (!bounds.isEmpty()) {
            out.println("<h2>Unknown without a GPU trace</h2>\n<dl>");
            bounds.forEach((question, bound) ->
                    out.println("<dt>" + Html.text(question) + "</dt><dd>" + Html.prose(bound) + "</dd>"));
            out.println("</dl>");
        }
    }

    private void table(String heading, Table table) {
        if (!table.rows().isEmpty()) {
            out.println("<details><summary><h3>" + Html.text(heading) + "</h3></summary>");
            Html.table(out, table);
            out.println("</details>");
        }
    }

    private static Map<String, String> tables() {
        Map<String, String> tables = new LinkedHashMap<>();
        tables.put("percentiles", "Durations: percentiles, times on the CPU side");
        tables.put("phase_parts", "Phases and their parts");
        tables.put("hangs", "What stands still");
        tables.put("data_wait_by_epoch", "Waits for data");
        tables.put("gpu_limit", "Whether the GPU is the limit");
        tables.put("processes_without_steps", "Processes on a GPU in which no steps were found");
        tables.put("programs_without_steps", "Programs that loaded no training framework, and what was seen of them");
        tables.put("gpu_usage", "GPUs, as the driver saw them");
        tables.put("gpu_time", "GPU activity, GPU execution time");
        tables.put("gpu_idle_causes", "GPU idle, and why");
        tables.put("gpu_kernels", "Kernels and copies, GPU execution time");
        tables.put("gpu_traces", "Traces of the GPU and their clocks");
        tables.put("launches", "Kernel launches, time to enqueue");
        tables.put("copies", "Copies, time of the call");
        tables.put("syncs", "Waits for the GPU, blocked time");
        tables.put("memory_use", "GPU memory by process");
        tables.put("collectives", "Collectives, time to enqueue");
        tables.put("late_ranks", "Ranks that came last");
        tables.put("dist_waits", "Waits for other ranks, blocked time");
        tables.put("preemption", "Runnable, waiting for a CPU");
        tables.put("marks", "Marks");
        tables.put("kinds", "What was probed");
        tables.put("losses", "Lost events");
        tables.put("overhead", "What recording cost");
        tables.put("processes", "Processes");
        return tables;
    }
}
