package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.SqlLibrary;
import java.io.PrintWriter;
import java.util.List;

/// What the report is printed as, where an option asks for it; else it is a [TextReport].
///
/// @param option of the command `report`
/// @param description what help says of it
/// @param factory who writes it
public record ReportForm(String option, String description, Factory factory) {
    /// All of them.
    public static final List<ReportForm> ALL = List.of(
            new ReportForm("--json", "Print the same data as JSON, times in ns.", JsonReport::new),
            new ReportForm("--json-schema", "Print the JSON Schema of what --json prints; needs no FILE.", JsonSchema::new),
            new ReportForm("--markdown", "Print Markdown, for an issue or a pull request.", (out, _) -> new MarkdownReport(out)),
            new ReportForm("--html", "Print one self-contained HTML page.", HtmlReport::new));

    /// Opens a format on a stream.
    @FunctionalInterface
    public interface Factory {
        ReportFormat open(PrintWriter out, SqlLibrary library);
    }
}
