package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.FindingWords;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.Started;
import io.dyber.zernel.analyze.report.data.Verdict;
import io.dyber.zernel.analyze.report.table.MarkdownTable;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import io.dyber.zernel.analyze.report.table.TextTable;
import io.dyber.zernel.analyze.report.text.FindingsText;
import io.dyber.zernel.analyze.report.text.StepsText;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/// The report as Markdown, for issues and pull requests: the verdict, findings, then folded tables.
///
/// @param out where it goes; not closed here
public record MarkdownReport(PrintWriter out) implements ReportFormat {
    private static final int MOST_ROWS = 20;
    private static final int WIDTH = 100;
    private static final List<String> TABLES = List.of(
            "phases", "gpu_limit", "processes_without_steps", "programs_without_steps", "lines_without_steps", "gpu_time", "gpu_idle_causes",
            "gpu_kernels", "gpu_traces", "gpu_usage", "launches", "copies", "syncs", "memory_use", "collectives", "late_ranks", "critical_ranks", "dist_waits", "marks",
            "percentiles", "losses", "processes");

    @Override
    public void write(Report report) {
        for (Table.Row recording : report.section("recordings").rows()) {
            out.println("# " + escaped(recording.requiredText("path")) + "\n");
            out.println((recording.flag("complete") ? "complete, " : "**INCOMPLETE**, ")
                    + (recording.flag("simulated") ? "**simulated: not a real job**, " : "")
                    + Quantity.count(recording.integer("events")) + " events"
                    + Started.text(recording).map(moment -> ", recorded " + moment).orElse("") + "\n");
            String why = recording.text("incomplete_because");
            if (!recording.flag("complete") && why != null && !why.isEmpty()) {
                out.println("Incomplete: " + escaped(why) + "\n");
            }
        }
        for (Table.Row cost : report.section("detail_cost").rows()) {
            out.println("Recording cost: " + escaped(cost.requiredText("text")) + "\n");
        }
        Verdict verdict = report.verdict();
        out.println(("**" + escaped(verdict.sentence()) + "** " + escaped(verdict.reason())).strip() + "\n");
        steps(report);
        out.println("## Findings\n");
        if (report.diagnosis().findings().isEmpty()) {
            out.println("No finding of the library applies. That is no proof of health.\n");
        }
        FindingsText.byKind(report.diagnosis()).forEach(this::findings);
        if (!report.diagnosis().skipped().isEmpty()) {
            out.println(escaped(report.diagnosis().skippedText()) + "\n");
        }
        unknowns(report.unknowns());
        for (String section : TABLES) {
            table(section, report.section(section));
        }
    }

    private void steps(Report report) {
        if (!report.section("training_threads").rows().isEmpty()) {
            out.println("```");
            new StepsText(new Page(out, WIDTH, false, true), report).write();
            out.println("```\n");
        }
    }

    private void unknowns(Map<String, String> bounds) {
        if (!bounds.isEmpty()) {
            out.println("## Unknown without a GPU trace\n");
            bounds.forEach((question, bound) -> out.println("- " + escaped(question) + ": " + escaped(bound)));
            out.println();
        }
    }

    private void findings(List<Finding> same) {
        Finding finding = same.getFirst();
        out.println("### " + escaped(finding.title()) + "\n");
        out.println("- **" + finding.severity() + "** " + escaped(finding.subject()) + ": "
                + escaped(FindingWords.amount(finding) + FindingWords.gain(finding)));
        out.println("- why: " + escaped(finding.evidence()));
        FindingWords.lines(finding).forEach(line -> out.println("- line: " + escaped(line.text())));
        out.println("- try: " + escaped(finding.advice()));
        out.println("- next: `" + finding.nextCommand().replace('`', ' ') + "`\n");
        if (same.size() > 1) {
            folded("evidence of all " + same.size(), JsonReport.evidence(same));
        }
    }

    private void table(String name, Table table) {
        if (!table.rows().isEmpty()) {
            folded(name.replace('_', ' '), table);
        }
    }

    private void folded(String title, Table table) {
        out.println("<details><summary>" + title + "</summary>\n");
        new MarkdownTable(out, MOST_ROWS).write(TextTable.withoutOnlyRecording(table));
        out.println("</details>\n");
    }

    private static String escaped(String text) {
        return MarkdownTable.escaped(text);
    }
}
