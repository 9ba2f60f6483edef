package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recording;
import io.dyber.zernel.analyze.Table;
import io.dyber.zernel.analyze.report.JsonInfo;
import io.dyber.zernel.analyze.report.Page;
import io.dyber.zernel.analyze.report.TextTable;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "info",
        mixinStandardHelpOptions = true,
        description = "What a recording says about itself: origin, probes, losses, columns.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze info run.parquet",
            "  zernel-analyze info --json run.parquet"
        })
final class InfoCommand implements Runnable {
    /// Titles and queries of the text form, in order.
    private static final Map<String, String> SECTIONS = sections();

    @Option(names = "--json", description = "Print the footer as it is.")
    boolean json;

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
        try (Database database = job.open()) {
            if (json) {
                new JsonInfo(out).write(database.recordings());
            } else {
                database.recordings().forEach(recording -> text(recording, database, screen.page(out)));
            }
        }
        out.flush();
    }

    private static void text(Recording recording, Database database, Page page) {
        PrintWriter out = page.out();
        long index = recording.index();
        Table about = database.query("FROM recordings WHERE recording = ?", index);
        for (Table.Column column : about.columns().subList(1, about.columns().size())) {
            String value = about.only().text(column.name());
            if (value != null && !value.isEmpty()) {
                out.printf("%-20s %s%n", column.name(), value);
            }
        }
        SECTIONS.forEach((title, sql) -> {
            Table table = database.query(sql, index);
            if (!table.rows().isEmpty()) {
                out.println();
                out.println(title);
                new TextTable(page, true).write(table);
            }
        });
        out.println();
    }

    private static Map<String, String> sections() {
        Map<String, String> sections = new LinkedHashMap<>();
        sections.put("Kinds", "SELECT kind, state, events, why FROM kinds WHERE recording = ?");
        sections.put(
                "Probes",
                """
                SELECT kind, symbol, parse_filename(library) AS library, state, cost, entries, filtered,
                    returns, events, lost, why
                FROM probes WHERE recording = ?
                """);
        sections.put("Losses", "SELECT kind, lost, stored, share FROM losses WHERE recording = ?");
        sections.put("Rings", "SELECT ring, size_bytes, high_water_bytes FROM rings WHERE recording = ?");
        sections.put(
                "Processes", "SELECT pid, ppid, comm, role, events, threads, cmdline FROM processes WHERE recording = ?");
        sections.put("Columns", "SELECT name, type, unit, comment FROM recorded_columns WHERE recording = ?");
        return sections;
    }
}
