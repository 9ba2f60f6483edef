package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.report.Explanation;
import io.dyber.zernel.analyze.report.JsonReport;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.text.FindingsText;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Suggestion;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "findings",
        mixinStandardHelpOptions = true,
        description = "What to fix, with the arithmetic; what loses most time first.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze findings run.parquet",
            "  zernel-analyze findings --explain data_bound",
            "",
            "Then: the command that stands behind next, or zernel-analyze sql run.parquet"
        })
final class FindingsCommand implements Runnable {
    @Option(names = "--explain", paramLabel = "NAME", completionCandidates = FindingNames.class,
            description = "Say why a finding or view matters, what it reads, its thresholds and its SQL.")
    @Nullable String explain;

    @Option(names = "--list", description = "Print the names of all findings.")
    boolean list;

    @Mixin
    Job job = new Job();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (explain != null) {
            explain(explain, job.input.library(), output.terminal.page(out));
        } else if (list) {
            job.input.library().findings().forEach(object -> out.printf("%-20s %s%n", object.name(), object.title()));
        } else {
            find(out);
        }
        out.flush();
    }

    private void find(PrintWriter out) {
        try (Database database = job.open()) {
            database.requireEvents();
            Diagnosis diagnosis = Report.diagnose(database);
            if (output.form.json || output.form.csv) {
                output.print(JsonReport.table(diagnosis.findings()), out, false);
                if (!diagnosis.skipped().isEmpty()) {
                    spec.commandLine().getErr().println("zernel-analyze: " + diagnosis.skippedText());
                }
            } else {
                if (diagnosis.findings().isEmpty()) {
                    out.println("no findings");
                }
                new FindingsText(output.terminal.page(out)).write(diagnosis);
            }
        }
    }

    static void explain(String name, SqlLibrary library, Page page) {
        SqlObject object = library.find(name);
        if (object == null) {
            throw new RecordingException(
                    "explaining '" + name + "': no such finding or view",
                    Suggestion.hint(name, library.objects().stream()
                            .map(SqlObject::name)
                            .filter(known -> !known.startsWith("_"))
                            .toList()));
        }
        new Explanation(page, library).write(object);
    }
}
