package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import java.util.List;

/// A diff on one screen.
public record DiffText(Page page) implements DiffFormat {
    private static final int MOST_CALLS = 15;

    @Override
    public void write(Diff diff, List<DiffRule.Verdict> verdicts) {
        page.line("before  " + DiffTables.side(diff.before(), diff.steps(), "before_steps"));
        page.line("after   " + DiffTables.side(diff.after(), diff.steps(), "after_steps"));
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
            page.line("and " + (diff.calls().rows().size() - MOST_CALLS)
                    + " more: zernel-analyze diff --csv calls");
        }
        if (!verdicts.isEmpty()) {
            page.blank();
            verdicts.forEach(verdict -> page.line((verdict.broken() ? page.severity("high", "BROKEN  ") : "ok      ")
                    + verdict.rule().text() + ": " + verdict.why()));
        }
    }
}
