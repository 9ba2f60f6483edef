package io.dyber.zernel.analyze.report;

/// A form of the report.
public sealed interface ReportFormat permits TextReport, JsonReport, JsonSchema, MarkdownReport, HtmlReport {
    /// Writes the whole report.
    void write(Report report);
}
