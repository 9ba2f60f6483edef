package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.SqlLibrary;
import io.dyber.zernel.analyze.SqlObject;
import java.io.PrintWriter;
import java.util.List;

/// Findings as cards: the worst of a kind in full, the rest of its evidence and its SQL folded.
record FindingsHtml(PrintWriter out, SqlLibrary library) {
    void write(Diagnosis diagnosis) {
        out.println("<h2>Findings, most lost time first</h2>");
        if (diagnosis.findings().isEmpty()) {
            out.println("<p>No finding of the library applies. That is no proof of health.</p>");
        }
        FindingsText.byKind(diagnosis).forEach(this::card);
        if (!diagnosis.skipped().isEmpty()) {
            out.println("<p>" + Html.prose(diagnosis.skippedText()) + "</p>");
        }
    }

    private void card(List<Finding> same) {
        Finding worst = same.getFirst();
        String severity = Html.text(worst.severity());
        out.println("<article class=\"" + severity + "\"><h3><span class=\"tag " + severity + "\">" + severity + "</span> "
                + Html.text(worst.title()) + "</h3>");
        out.println("<p><b>" + Html.text(worst.subject()) + "</b>: "
                + Html.prose(FindingsText.amount(worst) + FindingsText.gain(worst)) + "</p>");
        out.println("<dl><dt>why</dt><dd>" + Html.prose(worst.evidence()) + "</dd><dt>try</dt><dd>"
                + Html.prose(worst.advice()) + "</dd><dt>next</dt><dd><code>" + Html.text(worst.nextCommand())
                + "</code></dd></dl>");
        if (same.size() > 1) {
            out.println("<details><summary>Evidence of all " + same.size() + "</summary>");
            Html.table(out, JsonReport.evidence(same));
            out.println("</details>");
        }
        SqlObject sql = library.find(worst.name());
        if (sql != null) {
            out.println(Html.details("SQL of " + Html.text(worst.name()), "<pre>" + Html.text(sql.sql()) + "</pre>"));
        }
        out.println("</article>");
    }
}
