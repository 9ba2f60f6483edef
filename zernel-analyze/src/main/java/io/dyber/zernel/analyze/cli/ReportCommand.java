package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.report.HtmlReport;
import io.dyber.zernel.analyze.report.JsonReport;
import io.dyber.zernel.analyze.report.JsonSchema;
import io.dyber.zernel.analyze.report.MarkdownReport;
import io.dyber.zernel.analyze.report.Report;
import io.dyber.zernel.analyze.report.ReportFormat;
import io.dyber.zernel.analyze.report.TextReport;
import java.io.PrintWriter;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = "What to fix first, how much it can gain and why, on one screen.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze report run.parquet",
            "  zernel-analyze report --html 'rank*.parquet' > report.html",
            "",
            "Then: zernel-analyze findings --explain NAME, or what stands behind next"
        })
final class ReportCommand implements Runnable {
    @ArgGroup(exclusive = true)
    Form form = new Form();

    static final class Form {
        @Option(names = "--json", description = "Print the same data as JSON, times in ns.")
        boolean json;

        @Option(names = "--json-schema", description = "Print the JSON Schema of what --json prints; needs no FILE.")
        boolean schema;

        @Option(names = "--markdown", description = "Print Markdown, for an issue or a pull request.")
        boolean markdown;

        @Option(names = "--html", description = "Print one self-contained HTML page.")
        boolean html;
    }

    @Option(names = "--full", description = "Add every detail to the text: phases, GPU, communication, durations.")
    boolean full;

    @Mixin
    Job job = new Job();

    @Mixin
    Screen screen = new Screen();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (form.schema && job.files.isEmpty()) {
            try (Database none = Recordings.none(job.input.library())) {
                new JsonSchema(out, none.library()).write(Report.empty(none));
            }
            out.flush();
            return;
        }
        try (Database database = job.open()) {
            ReportFormat format = format(out, database);
            format.write(query(database, format));
        }
        out.flush();
    }

    private Report query(Database database, ReportFormat format) {
        try (Waiting waiting = job.waiting()) {
            return Report.of(database, format.sections(), waiting::at);
        }
    }

    private ReportFormat format(PrintWriter out, Database database) {
        if (form.json) {
            return new JsonReport(out, database.library());
        }
        if (form.schema) {
            return new JsonSchema(out, database.library());
        }
        if (form.markdown) {
            return new MarkdownReport(out);
        }
        return form.html ? new HtmlReport(out, database.library()) : new TextReport(screen.page(out), full);
    }
}
