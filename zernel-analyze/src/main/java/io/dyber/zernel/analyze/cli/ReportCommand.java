package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.report.HtmlReport;
import io.dyber.zernel.analyze.report.JsonReport;
import io.dyber.zernel.analyze.report.MarkdownReport;
import io.dyber.zernel.analyze.report.Report;
import io.dyber.zernel.analyze.report.ReportFormat;
import io.dyber.zernel.analyze.report.TextReport;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = "Where the time went and what to fix, on one screen.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze report run.parquet",
            "  zernel-analyze report --html 'rank*.parquet' > report.html"
        })
final class ReportCommand implements Runnable {
    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Recordings: files, globs, .live folders.")
    List<String> files = List.of();

    @ArgGroup(exclusive = true)
    Form form = new Form();

    static final class Form {
        @Option(names = "--json", description = "Print the same data as JSON, times in ns.")
        boolean json;

        @Option(names = "--markdown", description = "Print Markdown, for an issue or a pull request.")
        boolean markdown;

        @Option(names = "--html", description = "Print one self-contained HTML page.")
        boolean html;
    }

    @Mixin
    Input input = new Input();

    @Mixin
    Screen screen = new Screen();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        try (Database database = input.open(files)) {
            format(out, database).write(Report.of(database));
        }
        out.flush();
    }

    private ReportFormat format(PrintWriter out, Database database) {
        if (form.json) {
            return new JsonReport(out);
        }
        if (form.markdown) {
            return new MarkdownReport(out);
        }
        return form.html ? new HtmlReport(out, database.library()) : new TextReport(screen.page(out));
    }
}
