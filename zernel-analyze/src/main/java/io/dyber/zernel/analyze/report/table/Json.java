package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;
import java.io.PrintWriter;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes JSON with one table row per line. Written by hand: a JSON library would double the time of a small query.
public final class Json {
    private final PrintWriter out;

    public Json(PrintWriter out) {
        this.out = out;
    }

    /// An object with a member per line, of which tables have a row per line.
    public void document(Map<String, ? extends @Nullable Object> members) {
        String separator = "{\n";
        for (Map.Entry<String, ? extends @Nullable Object> member : members.entrySet()) {
            out.print(separator + "  ");
            text(member.getKey());
            out.print(": ");
            if (member.getValue() instanceof Table table) {
                table(table, "  ");
            } else {
                value(member.getValue());
            }
            separator = ",\n";
        }
        out.println("\n}");
    }

    /// A table as an array of objects.
    void table(Table table, String indent) {
        out.print('[');
        String separator = "\n";
        for (Table.Row row : table.rows()) {
            out.print(separator + indent + "  {");
            String comma = "";
            for (int i = 0; i < table.columns().size(); i++) {
                out.print(comma);
                text(table.columns().get(i).name());
                out.print(": ");
                cell(table.columns().get(i), row.values().get(i));
                comma = ", ";
            }
            out.print('}');
            separator = ",\n";
        }
        out.print(table.rows().isEmpty() ? "]" : "\n" + indent + "]");
    }

    private void cell(Table.Column column, @Nullable Object value) {
        if (column.type().equals("JSON") && value != null) {
            out.print(value);
        } else {
            value(value);
        }
    }

    public void value(@Nullable Object value) {
        switch (value) {
            case null -> out.print("null");
            case Double real when !Double.isFinite(real) -> out.print("null");
            case Number number -> out.print(number);
            case Boolean flag -> out.print(flag.booleanValue());
            case List<?> items -> items(items);
            case Map<?, ?> members -> members(members);
            default -> text(value.toString());
        }
    }

    public void text(String text) {
        out.print('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.print("\\\"");
                case '\\' -> out.print("\\\\");
                case '\n' -> out.print("\\n");
                case '\t' -> out.print("\\t");
                case '\r' -> out.print("\\r");
                default -> out.print(c < ' ' ? String.format("\\u%04x", (int) c) : Character.toString(c));
            }
        }
        out.print('"');
    }

    private void items(List<?> items) {
        out.print('[');
        for (Iterator<?> all = items.iterator(); all.hasNext(); ) {
            value(all.next());
            out.print(all.hasNext() ? ", " : "");
        }
        out.print(']');
    }

    private void members(Map<?, ?> members) {
        out.print('{');
        String comma = "";
        for (Map.Entry<?, ?> member : members.entrySet()) {
            out.print(comma);
            text(String.valueOf(member.getKey()));
            out.print(": ");
            value(member.getValue());
            comma = ", ";
        }
        out.print('}');
    }
}
