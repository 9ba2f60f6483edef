package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/// The report as one HTML page that needs nothing else: what [JsonReport] writes, and the script that draws it.
///
/// @param out where the page goes; not closed here
/// @param library where the SQL of a finding is, which the page shows folded
public record HtmlReport(PrintWriter out, SqlLibrary library) implements ReportFormat {
    private static final HtmlPage PAGE =
            new HtmlPage("zernel-analyze report FILE", List.of("data.js", "charts.js", "numbers.js", "flame.js", "report.js"));

    @Override
    public void write(Report report) {
        StringWriter json = new StringWriter();
        new JsonReport(new PrintWriter(json), library).write(report);
        PAGE.write(out, json.toString());
    }
}
