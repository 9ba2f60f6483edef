package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Table;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Pieces of an HTML page. Whatever comes from a recording goes through [#text].
final class Html {
    /// What XML does not allow, and no reader can see.
    private static final Pattern INVISIBLE = Pattern.compile("[\\p{Cntrl}&&[^\\t\\n\\r]]|[\\uFFFE\\uFFFF]");

    private static final int MOST_ROWS = 100;

    private Html() {}

    /// Light or dark as the reader's system is.
    static String style() {
        try (InputStream stream = Html.class.getResourceAsStream("/report/report.css")) {
            if (stream == null) {
                throw new IllegalStateException("the jar has no report/report.css");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Text for an element or a quoted attribute; nothing for null.
    static String text(@Nullable String text) {
        return text == null
                ? ""
                : INVISIBLE.matcher(text)
                        .replaceAll("\uFFFD")
                        .replace("&", "&amp;")
                        .replace("<", "&lt;")
                        .replace(">", "&gt;")
                        .replace("\"", "&quot;");
    }

    /// Text to read, in which no line ends between a number and its unit.
    static String prose(@Nullable String text) {
        return Quantity.glued(text(text));
    }

    /// Folded text.
    static String details(String summary, String content) {
        return "<details><summary>" + summary + "</summary>" + content + "</details>";
    }

    /// A table that scrolls by itself where it is too wide; columns without any value are left out.
    static void table(PrintWriter out, Table whole) {
        Table table = TextTable.withoutOnlyRecording(whole);
        List<Integer> shown = new ArrayList<>();
        out.println("<div class=\"wide\"><table><tr>");
        for (int i = 0; i < table.columns().size(); i++) {
            int column = i;
            if (table.rows().stream().anyMatch(row -> row.values().get(column) != null)) {
                shown.add(i);
                String name = table.columns().get(i).name().replaceFirst("_(ns|bytes)$", "").replace('_', ' ');
                out.print("<th" + (isNumber(table, i) ? " class=\"number\">" : ">") + text(name) + "</th>");
            }
        }
        out.println("</tr>");
        for (Table.Row row : table.rows().subList(0, Math.min(MOST_ROWS, table.rows().size()))) {
            out.print("<tr>");
            for (int i : shown) {
                cell(out, table, i, row);
            }
            out.println("</tr>");
        }
        out.println("</table></div>");
        if (table.rows().size() > MOST_ROWS) {
            out.println("<p class=\"quiet\">and " + Quantity.count(table.rows().size() - MOST_ROWS) + " more rows</p>");
        }
    }

    private static boolean isNumber(Table table, int column) {
        return table.rows().stream().anyMatch(row -> row.values().get(column) instanceof Number);
    }

    private static void cell(PrintWriter out, Table table, int column, Table.Row row) {
        switch (row.values().get(column)) {
            case null -> out.print("<td></td>");
            case Number number -> out.print("<td class=\"number\">"
                    + Quantity.ofColumn(table.columns().get(column).name(), number, table, row) + "</td>");
            case Object value -> {
                String text = value.toString();
                out.print((text.length() > 30 ? "<td class=\"name\">" : "<td>") + text(text) + "</td>");
            }
        }
    }
}
