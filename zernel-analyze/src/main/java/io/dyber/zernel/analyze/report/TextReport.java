package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.CriticalPath;
import io.dyber.zernel.analyze.report.data.GpuActivity;
import io.dyber.zernel.analyze.report.data.GpuMemory;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import io.dyber.zernel.analyze.report.text.DetailsText;
import io.dyber.zernel.analyze.report.text.FindingsText;
import io.dyber.zernel.analyze.report.text.RecordingText;
import io.dyber.zernel.analyze.report.text.StepsText;
import io.dyber.zernel.analyze.report.text.VerdictText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The report for a terminal. One screen: what to fix first, what a step consists of, the findings with their
/// arithmetic, and what cannot be known.
///
/// @param page where it goes
/// @param whole whether every detail follows
public record TextReport(Page page, boolean whole) implements ReportFormat {
    private static final int MOST_RECORDINGS = 8;
    private static final int MOST_FINDINGS = 5;
    private static final int MOST_ACTIVITY = 8;

    /// Of one screen: quantiles of all calls and the like are only for the details, and take a tenth of the time.
    private static final List<String> SCREEN = List.of(
            "recordings",
            "command_exits",
            "kinds",
            "losses",
            "training_threads",
            "processes_without_steps",
            "programs_without_steps",
            "lines_without_steps",
            "request_times",
            "phase_words",
            "step_mean",
            "step_lines",
            "operator_samples",
            "thread_states",
            "evaluations",
            "step_timeline",
            "gpus",
            "gpu_usage",
            "gpu_traces",
            "gpu_time",
            "gpu_idle_causes",
            "gpu_kernels",
            "gpu_limit",
            "unknowns",
            "memory_curve",
            "critical_ranks",
            "probes",
            "detail_cost",
            "overhead",
            "system_call_cost",
            "overhead_by_process",
            "processes");

    @Override
    public List<String> sections() {
        return whole ? ReportFormat.super.sections() : SCREEN;
    }

    @Override
    public void write(Report report) {
        recordings(report);
        page.blank();
        new VerdictText(page).write(report.verdict());
        new StepsText(page, report).write();
        CriticalPath.of(report).ifPresent(path -> page.paragraph("  critical path: ", path));
        memory(report);
        page.blank();
        findings(report);
        gpuActivity(report);
        unknowns(report.unknowns());
        if (whole) {
            new DetailsText(page, report).write();
        } else {
            page.blank();
            page.paragraph("Next: ", "--full for every table, --html for pictures, findings --explain NAME for the SQL");
        }
    }

    private void recordings(Report report) {
        List<Table.Row> recordings = report.section("recordings").rows();
        RecordingText text = new RecordingText(page, report);
        for (Table.Row recording : recordings.subList(0, Math.min(MOST_RECORDINGS, recordings.size()))) {
            text.write(recording, recordings.size() == 1 || whole);
        }
        if (recordings.size() > MOST_RECORDINGS) {
            page.line("and " + (recordings.size() - MOST_RECORDINGS) + " more recordings: zernel-analyze info");
        }
    }

    private void memory(Report report) {
        for (GpuMemory memory : GpuMemory.of(report).stream().limit(1).toList()) {
            String text = "GPU memory of " + memory.label() + ", top " + Quantity.size(memory.peak())
                    + (memory.capacity() == 0 ? "" : " of " + Quantity.size(memory.capacity()));
            List<Double> heights = new ArrayList<>();
            for (int i = 0; i < memory.reserved().size(); i++) {
                heights.add((double) Math.max(memory.reserved().get(i), memory.handed().get(i)));
            }
            String line = page.sparkline(heights, (double) memory.peak(), page.width() - text.length() - 4);
            page.line("  " + page.colour(36, line) + "  " + page.dim(text));
        }
    }

    private void findings(Report report) {
        page.heading(heading(report.diagnosis().findings()));
        new FindingsText(page).write(report.diagnosis(), whole ? Integer.MAX_VALUE : MOST_FINDINGS);
    }

    private static String heading(List<Finding> findings) {
        if (findings.isEmpty()) {
            return "Findings: none";
        }
        boolean lost = findings.getFirst().lostMillisPerStep() != null;
        return lost ? "Findings, by what they lose at least" : "Findings, by severity";
    }

    private void gpuActivity(Report report) {
        List<GpuActivity> activity = GpuActivity.of(report);
        if (!activity.isEmpty()) {
            page.blank();
            page.heading(GpuActivity.HEADING);
            int shown = whole ? activity.size() : Math.min(MOST_ACTIVITY, activity.size());
            activity.subList(0, shown).forEach(fact -> page.paragraph("  ", fact.label() + ": " + fact.text()));
            if (shown < activity.size()) {
                page.line("  and " + Quantity.counted(activity.size() - shown, "line") + " more: --full");
            }
        }
    }

    private void unknowns(Map<String, String> bounds) {
        if (!bounds.isEmpty()) {
            page.blank();
            page.heading("Unknown without a GPU trace");
            bounds.forEach((question, bound) -> page.paragraph("  ", question + ": " + bound));
        }
    }
}
