package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.export.Selection;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.text.TimelineText;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "timeline",
        mixinStandardHelpOptions = true,
        description = "Which phase each thread was in over time; how busy GPUs were.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze timeline run.parquet",
            "  zernel-analyze timeline --from 10 --to 12 'rank*.parquet'",
            "",
            "Then: zernel-analyze export --perfetto run.parquet"
        })
final class TimelineCommand implements Runnable {
    @Option(names = "--from", paramLabel = "S", description = "Begin so many seconds after the start of the recording.")
    @Nullable Double from;

    @Option(names = "--to", paramLabel = "S", description = "End so many seconds after the start of the recording.")
    @Nullable Double to;

    @Mixin
    Job job = new Job();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        if (from != null && to != null && from >= to) {
            throw new ParameterException(spec.commandLine(), "--from must be less than --to");
        }
        PrintWriter out = spec.commandLine().getOut();
        Page page = output.terminal.page(out);
        Timeline timeline = query(TimelineText.cells(page));
        if (output.form.json || output.form.csv) {
            output.print(timeline.buckets(), out, false);
        } else {
            new TimelineText(page, timeline.beginNanos(), timeline.bucketNanos())
                    .write(timeline.buckets(), timeline.ranks(), timeline.words());
            out.flush();
        }
    }

    private record Timeline(long beginNanos, long bucketNanos, Table buckets, Table ranks, Table words) {}

    private Timeline query(int cells) {
        try (ProgressLine progress = job.progress();
                Database database = job.open()) {
            database.requireEvents();
            progress.at("querying", 0);
            Selection span = span(database);
            long bucket = Math.max(1, Math.ceilDiv(span.to() - span.from(), cells));
            return new Timeline(
                    span.from() - span.zero(),
                    bucket,
                    database.query("FROM timeline(?, ?, ?)", span.from(), span.to(), bucket),
                    database.query("SELECT recording, pid, rank FROM processes WHERE rank IS NOT NULL"),
                    database.query("FROM phase_words"));
        }
    }

    /// The given bounds, else from the first call of a training thread or GPU sample to the last.
    private Selection span(Database database) {
        Selection span = Selection.of(database, List.of(), List.of(), from, to);
        Table.Row training = database.query("SELECT min(first_ns) AS first_ns, max(last_ns) AS last_ns FROM training_threads")
                .only();
        return training.isNull("first_ns")
                ? span
                : new Selection(
                        List.of(),
                        List.of(),
                        from == null ? training.integer("first_ns") : span.from(),
                        to == null ? training.integer("last_ns") : span.to(),
                        span.zero(),
                        span.shifts());
    }
}
