package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.report.data.Report;
import java.util.List;

/// A form of the report.
public sealed interface ReportFormat permits TextReport, JsonReport, JsonSchema, MarkdownReport, HtmlReport {
    /// What it writes of: names of [Report#SECTIONS].
    default List<String> sections() {
        return Report.SECTIONS;
    }

    /// Writes the whole report.
    void write(Report report);
}
