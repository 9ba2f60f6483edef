package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.analyze.report.JsonInfo;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.TextTable;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "info",
        mixinStandardHelpOptions = true,
        description = "What a recording says of itself: origin, probes, losses, columns.",
        footer = {
            "",
            "--json alone prints the footer as it is, --csv alone the table recordings.",
            "",
            "Examples:",
            "  zernel-analyze info run.parquet",
            "  zernel-analyze info --table probes --csv run.parquet",
            "",
            "Then: zernel-analyze report run.parquet"
        })
final class InfoCommand implements Runnable {
    /// The tables, in the order of the text.
    enum Part {
        recordings("FROM recordings"),
        kinds("SELECT recording, kind, state, events, why FROM kinds"),
        detail("SELECT recording, asked, recorded, kinds, windows, time_share, why FROM detail"),
        probes(
                """
                SELECT recording, kind, symbol, parse_filename(library) AS library, state, cost, entries, filtered,
                    returns, events, lost, why
                FROM probes
                """),
        losses("SELECT recording, kind, lost, stored, share FROM losses"),
        rings("SELECT recording, ring, size_bytes, high_water_bytes FROM rings"),
        processes("SELECT recording, pid, ppid, comm, role, events, threads, cmdline FROM processes"),
        columns("SELECT recording, name, type, unit, comment FROM recorded_columns");

        private final String sql;

        Part(String sql) {
            this.sql = sql;
        }
    }

    /// What digests hold.
    private static final List<Part> OF_DIGESTS = List.of(Part.recordings, Part.losses, Part.processes);

    @Option(names = "--table", paramLabel = "NAME", description = "Only this table: ${COMPLETION-CANDIDATES}.")
    @Nullable Part part;

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
        try (Database database = job.open()) {
            if (part != null || output.form.csv) {
                output.print(database.query((part == null ? Part.recordings : part).sql), out, true);
            } else if (output.form.json) {
                new JsonInfo(out).write(database.recordings());
            } else {
                database.recordings().forEach(recording -> text(recording, database, output.terminal.page(out)));
            }
        }
        out.flush();
    }

    private static void text(Recording recording, Database database, Page page) {
        PrintWriter out = page.out();
        for (Part part : database.isOfDigests() ? OF_DIGESTS : Arrays.asList(Part.values())) {
            Table table = database.query("SELECT * EXCLUDE (recording) FROM (" + part.sql + ") WHERE recording = ?", recording.index());
            if (part == Part.recordings) {
                about(table, page);
            } else if (!table.rows().isEmpty()) {
                out.println();
                out.println(part.name().substring(0, 1).toUpperCase(Locale.ROOT) + part.name().substring(1));
                new TextTable(page, true).write(table);
            }
        }
        out.println();
    }

    private static void about(Table table, Page page) {
        for (Table.Column column : table.columns()) {
            String value = table.only().text(column.name());
            if (value != null && !value.isEmpty()) {
                boolean moment = column.name().endsWith("ed_ns");
                page.line(String.format(
                        Locale.ROOT,
                        "%-20s %s",
                        column.name().replaceFirst("ed_ns$", "ed"),
                        moment ? Instant.EPOCH.plusNanos(table.only().integer(column.name())) : value));
            }
        }
    }
}
