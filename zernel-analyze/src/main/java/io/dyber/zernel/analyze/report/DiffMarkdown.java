package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import java.io.PrintWriter;
import java.util.List;

/// A diff as Markdown, for a pull request.
///
/// @param out where it goes; not closed here
public record DiffMarkdown(PrintWriter out) implements DiffFormat {
    private static final int MOST_CALLS = 30;

    @Override
    public void write(Diff diff, List<DiffRule.Verdict> verdicts) {
        out.println("**" + MarkdownTable.escaped(DiffTables.verdict(diff.steps())) + "**\n");
        out.println("- before: " + MarkdownTable.escaped(DiffTables.side(diff.before(), diff.steps(), "before_steps")));
        out.println("- after: " + MarkdownTable.escaped(DiffTables.side(diff.after(), diff.steps(), "after_steps")));
        verdicts.forEach(verdict -> out.println("- " + (verdict.broken() ? "**BROKEN** `" : "ok `")
                + verdict.rule().text() + "`: " + MarkdownTable.escaped(verdict.why())));
        out.println();
        if (!diff.steps().rows().isEmpty()) {
            new MarkdownTable(out, Integer.MAX_VALUE).write(DiffTables.steps(diff.steps()));
            DiffTables.explanation(diff.steps()).ifPresent(text -> out.println(MarkdownTable.escaped(text) + "\n"));
        }
        new MarkdownTable(out, MOST_CALLS).write(DiffTables.calls(diff.calls(), diff.calls().rows().size()));
    }
}
