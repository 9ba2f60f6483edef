package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.analyze.cli.option.TerminalOptions;
import io.dyber.zernel.analyze.report.FleetHtml;
import io.dyber.zernel.analyze.report.FleetJson;
import io.dyber.zernel.analyze.report.FleetText;
import io.dyber.zernel.analyze.report.JsonSchema;
import io.dyber.zernel.analyze.report.ReportForm;
import io.dyber.zernel.analyze.report.ReportFormat;
import io.dyber.zernel.analyze.report.TextReport;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.report.data.Report;
import java.io.PrintWriter;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
            "  zernel-analyze report digests",
            "",
            "Then: zernel-analyze findings --explain NAME, or what stands behind next"
        })
final class ReportCommand implements Runnable {
    @Option(names = "--full", description = "Add every detail to the text: phases, GPU, communication, durations.")
    boolean full;

    @Mixin
    Job job = new Job();

    @Mixin
    TerminalOptions terminal = new TerminalOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// The command with an option for each form, of which one may be given.
    static CommandSpec spec() {
        CommandSpec spec = CommandSpec.forAnnotatedObject(new ReportCommand());
        ArgGroupSpec.Builder forms = ArgGroupSpec.builder().exclusive(true);
        for (ReportForm form : ReportForm.ALL) {
            forms.addArg(OptionSpec.builder(form.option()).type(boolean.class).arity("0").description(form.description()).build());
        }
        return spec.addArgGroup(forms.build());
    }

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (job.files.isEmpty() && form().map(form -> form.factory().open(out, job.input.library())).orElse(null) instanceof JsonSchema schema) {
            try (Database none = Recordings.none(job.input.library())) {
                schema.write(Report.empty(none));
            }
            out.flush();
            return;
        }
        try (Database database = job.open()) {
            if (database.isOfDigests()) {
                write(fleet(database), out);
                out.flush();
                return;
            }
            ReportFormat format = format(out, database);
            format.write(query(database, format));
        }
        out.flush();
    }

    private Fleet fleet(Database database) {
        try (ProgressLine progress = job.progress()) {
            return Fleet.of(database, progress::at);
        }
    }

    private void write(Fleet fleet, PrintWriter out) {
        switch (form().map(ReportForm::option).orElse("")) {
            case "" -> new FleetText(terminal.page(out)).write(fleet);
            case "--json" -> new FleetJson(out).write(fleet);
            case "--html" -> new FleetHtml(out).write(fleet);
            case String other -> throw new ParameterException(spec.commandLine(), other + " is not there for digests: --json and --html are");
        }
    }

    private Report query(Database database, ReportFormat format) {
        try (ProgressLine progress = job.progress()) {
            return Report.of(database, format.sections(), progress::at);
        }
    }

    private Optional<ReportForm> form() {
        return ReportForm.ALL.stream()
                .filter(form -> spec.commandLine().getParseResult().hasMatchedOption(form.option()))
                .findFirst();
    }

    private ReportFormat format(PrintWriter out, Database database) {
        return form().map(form -> form.factory().open(out, database.library()))
                .orElseGet(() -> new TextReport(terminal.page(out), full));
    }
}
