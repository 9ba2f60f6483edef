package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/// A table in Markdown, with units.
///
/// @param mostRows further rows are only counted
public record MarkdownTable(PrintWriter out, int mostRows) implements TableFormat {
    @Override
    public void write(Table table) {
        List<String> heads = new ArrayList<>();
        List<String> rules = new ArrayList<>();
        for (Table.Column column : table.columns()) {
            heads.add(column.name().replaceFirst("_(ns|bytes)$", ""));
            rules.add("---");
        }
        line(heads);
        line(rules);
        for (Table.Row row : table.rows().subList(0, Math.min(mostRows, table.rows().size()))) {
            List<String> cells = new ArrayList<>();
            for (int i = 0; i < heads.size(); i++) {
                cells.add(cell(table, i, row));
            }
            line(cells);
        }
        out.println(table.rows().size() > mostRows ? "\nand " + (table.rows().size() - mostRows) + " more\n" : "");
    }

    private void line(List<String> cells) {
        out.println("| " + String.join(" | ", cells) + " |");
    }

    private static String cell(Table table, int column, Table.Row row) {
        return switch (row.values().get(column)) {
            case null -> "";
            case Number number -> Quantity.ofColumn(table.columns().get(column).name(), number, table, row);
            case Object value -> escaped(value.toString());
        };
    }

    /// One line of Markdown that shows a text as it is: what would be a link, an image, HTML or a format is none.
    public static String escaped(String text) {
        return text.replaceAll("\\s+", " ").replaceAll("([\\\\|*_<>#`!~&\\[\\]])", "\\\\$1");
    }
}
