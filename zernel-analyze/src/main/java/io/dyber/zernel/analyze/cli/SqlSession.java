package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.Statements;
import io.dyber.zernel.format.RecordingException;
import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Statements and dot commands over one database, one after the other.
///
/// Of a result only so many rows are printed, so that `FROM events` does not run for hours.
final class SqlSession {
    private static final Pattern COLUMN = Pattern.compile("(?m)\\b(\\w+)\"?,? +-- ");
    private static final List<String> KEYWORDS = List.of(
            "SELECT", "FROM", "WHERE", "GROUP BY ALL", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "ASOF JOIN", "USING", "AS",
            "AND", "OR", "NOT", "NULL", "IN", "BETWEEN", "LIKE", "IS", "CASE", "WHEN", "THEN", "ELSE", "END", "WITH", "UNION ALL",
            "DISTINCT", "DESC", "OVER", "PARTITION BY", "HAVING", "count(*)", "sum(", "avg(", "min(", "max(", "arg_max(",
            "quantile_cont(", "coalesce(", "DESCRIBE", "SUMMARIZE");
    static final List<String> COMMANDS = List.of(".tables", ".schema", ".explain", ".timing", ".help", ".quit");
    private static final String HELP =
            """
            A statement ends with ; and may take several lines. Ctrl-C cancels it, Tab completes names.
            .tables          tables and views
            .schema NAME     columns of one
            .explain NAME    the SQL of a finding or view, with its thresholds
            .timing          say how long statements take, or stop saying it
            .help            this
            .quit            end (or Ctrl-D)
            """;

    private final Database database;
    private final TableOutput output;
    private final PrintWriter out;
    private final int most;
    private boolean timing;

    SqlSession(Database database, TableOutput output, PrintWriter out, int most) {
        this.database = database;
        this.output = output;
        this.out = out;
        this.most = most;
    }

    /// Runs a statement or a dot command; false when it is `.quit`.
    ///
    /// @throws RecordingException if it is wrong
    boolean run(String line) {
        String[] words = line.strip().split("\\s+", 2);
        if (!words[0].startsWith(".")) {
            Statements.of(line).forEach(this::statement);
            return true;
        }
        String argument = words.length > 1 ? words[1].replaceAll("[;\\s]+$", "") : "";
        switch (words[0].replaceAll(";$", "")) {
            case ".tables" -> tables();
            case ".schema" -> schema(argument);
            case ".explain" -> FindingsCommand.explain(argument, database.library(), output.terminal.page(out));
            case ".timing" -> {
                timing = !timing;
                out.println(timing ? "timing is on" : "timing is off");
            }
            case ".help" -> out.print(HELP);
            case ".quit", ".exit" -> {
                return false;
            }
            default -> throw new RecordingException("running '" + words[0] + "': no such command", ".help lists them");
        }
        out.flush();
        return true;
    }

    /// What Tab offers where a table has to come.
    Set<String> tableNames() {
        Set<String> tables = new LinkedHashSet<>(names().keySet());
        tables.addAll(kinds());
        return tables;
    }

    /// What Tab offers.
    Set<String> words() {
        Set<String> words = new LinkedHashSet<>(COMMANDS);
        words.addAll(KEYWORDS);
        words.addAll(tableNames());
        words.addAll(database.columns());
        for (SqlObject object : database.library().objects()) {
            Matcher column = COLUMN.matcher(object.sql().substring(Math.max(0, object.sql().lastIndexOf("\nSELECT\n"))));
            while (column.find()) {
                words.add(column.group(1));
            }
        }
        return words;
    }

    private void statement(String sql) {
        long start = System.nanoTime();
        Table table = database.head(most == Integer.MAX_VALUE ? most : most + 1, sql);
        output.print(new Table(table.columns(), table.rows().subList(0, Math.min(most, table.rows().size()))), out, false);
        if (table.rows().size() > most) {
            out.println("and more rows than " + most + ": add LIMIT, or use zernel-analyze export --sql");
        }
        if (timing) {
            out.printf(Locale.ROOT, "%.3f s%n", (System.nanoTime() - start) / 1e9);
        }
        out.flush();
    }

    private void tables() {
        Page page = output.terminal.page(out);
        names().forEach((name, title) -> page.paragraph(String.format(Locale.ROOT, "%-26s ", name), title));
        page.out().println();
        page.paragraph("", "and each kind of events, with its columns only: " + String.join(", ", kinds()));
    }

    private List<String> kinds() {
        return database.query("SELECT DISTINCT kind FROM kinds ORDER BY kind").texts("kind");
    }

    private void schema(String name) {
        if (!name.matches("\\w+")) {
            throw new RecordingException("describing '" + name + "': that is not a name", ".schema steps");
        }
        statement("SELECT column_name, column_type FROM (DESCRIBE " + name + ")");
    }

    /// Names of tables and views, each with what it holds.
    private Map<String, String> names() {
        Map<String, String> names = new TreeMap<>();
        names.put("events", "All events.");
        names.put("files", "The opened recordings.");
        names.put("footer", "What recordings say of themselves, as JSON.");
        for (SqlObject object : database.library().objects()) {
            if (object.role() == SqlObject.Role.VIEW && !object.name().startsWith("_")) {
                names.put(object.name(), object.title());
            }
        }
        return names;
    }
}
