package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.analyze.report.table.Json;
import io.dyber.zernel.analyze.report.table.MarkdownTable;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.TextTable;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A diff in each form that it has, and what the rules said of it.
public record DiffReport(Diff diff, List<DiffRule.Verdict> verdicts) {
    private static final HtmlPage PAGE =
            new HtmlPage("zernel-analyze diff BEFORE AFTER", List.of("data.js", "charts.js", "numbers.js", "flame.js", "diff.js"));
    private static final int MOST_CALLS = 15;
    private static final int MOST_LINES = 10;
    private static final int MOST_PAGE_ROWS = 30;

    /// A screen.
    public void text(Page page) {
        page.line("before  " + before());
        page.line("after   " + after());
        page.blank();
        page.paragraph("", DiffTables.verdict(diff.steps()));
        TextTable tables = new TextTable(page, true);
        if (!diff.steps().rows().isEmpty()) {
            page.blank();
            tables.write(DiffTables.steps(diff.steps()));
            DiffTables.explanation(diff.steps()).ifPresent(text -> page.paragraph("", text));
        }
        page.blank();
        tables.write(DiffTables.calls(diff.calls(), MOST_CALLS));
        if (diff.calls().rows().size() > MOST_CALLS) {
            page.line("and " + (diff.calls().rows().size() - MOST_CALLS) + " more: zernel-analyze diff --csv calls");
        }
        if (!diff.lines().rows().isEmpty()) {
            page.blank();
            tables.write(DiffTables.lines(diff.lines(), MOST_LINES));
        }
        if (!verdicts.isEmpty()) {
            page.blank();
            verdicts.forEach(verdict -> page.line((verdict.broken() ? page.severity("high", "BROKEN  ") : "ok      ")
                    + verdict.rule().text() + ": " + verdict.why()));
        }
    }

    /// Markdown, for a pull request.
    public void markdown(PrintWriter out) {
        out.println("**" + MarkdownTable.escaped(DiffTables.verdict(diff.steps())) + "**\n");
        out.println("- before: " + MarkdownTable.escaped(before()));
        out.println("- after: " + MarkdownTable.escaped(after()));
        verdicts.forEach(verdict -> out.println("- " + (verdict.broken() ? "**BROKEN** `" : "ok `")
                + verdict.rule().text() + "`: " + MarkdownTable.escaped(verdict.why())));
        out.println();
        MarkdownTable tables = new MarkdownTable(out, MOST_PAGE_ROWS);
        if (!diff.steps().rows().isEmpty()) {
            tables.write(DiffTables.steps(diff.steps()));
            DiffTables.explanation(diff.steps()).ifPresent(text -> out.println(MarkdownTable.escaped(text) + "\n"));
        }
        tables.write(DiffTables.calls(diff.calls(), diff.calls().rows().size()));
        if (!diff.lines().rows().isEmpty()) {
            tables.write(DiffTables.lines(diff.lines(), diff.lines().rows().size()));
        }
    }

    /// One JSON object: `format`, `before`, `after`, the views `steps`, `calls` and `lines`, and `rules`.
    public void json(PrintWriter out) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("format", 1);
        members.put("before", paths(diff.before()));
        members.put("after", paths(diff.after()));
        members.put("steps", diff.steps());
        members.put("calls", diff.calls());
        members.put("lines", diff.lines());
        members.put("rules", verdicts.stream().map(DiffReport::members).toList());
        new Json(out).document(members);
    }

    /// An HTML page that needs nothing else: what the text says, and a differential flame graph.
    ///
    /// @param stacks the view `flame_diff`
    public void html(PrintWriter out, Table stacks) {
        boolean hasLines = !diff.lines().rows().isEmpty();
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("before", before());
        members.put("after", after());
        members.put("verdict", DiffTables.verdict(diff.steps()));
        members.put("rules", verdicts.stream().map(DiffReport::members).toList());
        members.put("steps", diff.steps().rows().isEmpty() ? null : drawn(DiffTables.steps(diff.steps())));
        members.put("explanation", DiffTables.explanation(diff.steps()).orElse(null));
        members.put("lines", hasLines ? drawn(DiffTables.lines(diff.lines(), MOST_LINES)) : null);
        members.put("calls", drawn(DiffTables.calls(diff.calls(), MOST_PAGE_ROWS)));
        members.put("per", hasLines ? diff.lines().only().requiredText("per") : "step");
        members.put("stacks", stacks);
        StringWriter json = new StringWriter();
        new Json(new PrintWriter(json)).document(members);
        PAGE.write(out, json.toString());
    }

    /// Columns with their names and whether they are numbers, and rows of texts.
    private static Map<String, @Nullable Object> drawn(Table table) {
        List<Map<String, @Nullable Object>> columns = new ArrayList<>();
        for (Table.Column column : table.columns()) {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            members.put("name", column.name());
            members.put("number", DiffTables.isNumber(column));
            columns.add(members);
        }
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("columns", columns);
        members.put("rows", table.rows().stream().map(Table.Row::values).toList());
        return members;
    }

    private String before() {
        return DiffTables.side(diff.before(), diff.steps(), "before_steps");
    }

    private String after() {
        return DiffTables.side(diff.after(), diff.steps(), "after_steps");
    }

    private static List<String> paths(List<Recording> recordings) {
        return recordings.stream().map(recording -> recording.path().toString()).toList();
    }

    private static Map<String, @Nullable Object> members(DiffRule.Verdict verdict) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("rule", verdict.rule().text());
        members.put("broken", verdict.broken());
        members.put("why", verdict.why());
        return members;
    }
}
