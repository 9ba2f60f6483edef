package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.report.data.FindingWords;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.report.data.HeatMap;
import io.dyber.zernel.analyze.report.data.Verdict;
import io.dyber.zernel.analyze.report.table.Page;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Locale;

/// A fleet as one HTML page without scripts: the verdict, the findings, and a cell for each rank, which says on hovering who
/// it is and how late it comes. What the text says stands below.
///
/// @param out where the page goes; not closed here
public record FleetHtml(PrintWriter out) {
    private static final int CELL = 9;
    private static final int ROW = 72;
    private static final int TEXT_WIDTH = 110;

    /// Writes all of it.
    public void write(Fleet fleet) {
        Verdict verdict = fleet.verdict();
        out.println("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
        out.println("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
        out.println("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Zernel fleet</title>\n<style>");
        out.print(HtmlPage.style());
        out.println(".map { overflow-x: auto; } .map rect { fill: var(--line); } .map .late { fill: var(--warn); } .map .very_late { fill: var(--bad); }"
                + " .map .named { fill: none; stroke: var(--accent); stroke-width: 1.5; }\n</style>\n</head>\n<body>\n<main>");
        out.printf(
                "<section class=\"verdict %s\"><p>%s</p><p>%s</p></section>%n",
                verdict.kind().name().toLowerCase(Locale.ROOT), text(verdict.sentence()), text(verdict.reason()));
        map(HeatMap.of(fleet));
        fleet.counts().forEach(this::finding);
        StringWriter words = new StringWriter();
        new FleetText(new Page(new PrintWriter(words, true), TEXT_WIDTH, false, true)).write(fleet);
        out.println("<h2>The same as text</h2>\n<pre>" + text(words.toString()) + "</pre>\n</main>\n</body>\n</html>");
    }

    private void finding(Fleet.Count count) {
        Finding worst = count.finding();
        out.printf(
                Locale.ROOT,
                "<article class=\"card %s\"><h3>%s</h3><p>times: %,d, in recordings: %,d; worst: %s</p><p class=\"soft\">%s</p><p>%s</p></article>%n",
                text(worst.severity()),
                text(worst.title()),
                count.times(),
                count.recordings().size(),
                text(worst.subject() + ": " + FindingWords.amount(worst) + FindingWords.gain(worst)),
                text(worst.evidence()),
                text(worst.advice()));
    }

    /// Machines in rows of the page, one below the other, each a column of its ranks.
    private void map(HeatMap map) {
        int places = map.places();
        if (places == 0) {
            return;
        }
        int height = (places + 2) * CELL;
        int rows = (map.nodes().size() + ROW - 1) / ROW;
        out.println("<h2>How late ranks come: a column for each machine, a cell for each rank</h2>\n<div class=\"map\">");
        out.printf(
                "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"how late each rank comes\">%n",
                Math.min(ROW, map.nodes().size()) * (CELL + 1) + 2, rows * height);
        for (int i = 0; i < map.nodes().size(); i++) {
            HeatMap.Node node = map.nodes().get(i);
            int x = 1 + i % ROW * (CELL + 1);
            int y = 1 + i / ROW * height;
            for (int place = 0; place < node.ranks().size(); place++) {
                HeatMap.Cell cell = node.ranks().get(place);
                out.printf(
                        Locale.ROOT,
                        "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s, %s: %.1f %% of a step after the middle rank</title></rect>%n",
                        cell.level().name().toLowerCase(Locale.ROOT), x, y + place * CELL, CELL - 1, CELL - 1, text(cell.label()), text(node.host()), 100 * cell.share());
            }
            if (node.named()) {
                out.printf(
                        "<rect class=\"named\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>%n",
                        x - 1, y - 1, CELL + 1, node.ranks().size() * CELL + 1);
            }
        }
        out.println("</svg>\n</div>\n<p class=\"soft\">Orange: late by 2 % of a step or more in the median; red: by 10 %; framed: named by a finding.</p>");
    }

    private static String text(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
