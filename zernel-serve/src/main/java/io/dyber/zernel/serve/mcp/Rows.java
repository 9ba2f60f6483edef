package io.dyber.zernel.serve.mcp;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The first rows of a table, as many as an answer has room for.
///
/// @param table with what is shown
/// @param cut what was left out, in words; empty where nothing was
record Rows(Table table, String cut) {
    /// Characters of all values together.
    private static final int MOST_TEXT = 60_000;

    /// Characters of one value.
    private static final int MOST_VALUE = 2_000;

    /// @param most rows; one more says that there are more
    static Rows of(Table all, int most) {
        List<Table.Row> rows = new ArrayList<>();
        boolean shortened = false;
        int text = 0;
        for (Table.Row row : all.rows()) {
            List<@Nullable Object> values = new ArrayList<>();
            for (Object value : row.values()) {
                Object shown = shown(value);
                shortened |= shown instanceof String one && !one.equals(value);
                text += String.valueOf(shown).length();
                values.add(shown);
            }
            if (rows.size() == most || (text > MOST_TEXT && !rows.isEmpty())) {
                return new Rows(new Table(all.columns(), rows), "only the first " + rows.size() + " rows; there are more");
            }
            rows.add(new Table.Row(row.positions(), values));
        }
        return new Rows(
                new Table(all.columns(), rows),
                shortened ? "texts of more than " + MOST_VALUE + " characters are shortened" : "");
    }

    /// JSON has no other numbers than finite ones.
    private static @Nullable Object shown(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Double real when !Double.isFinite(real) -> null;
            case String text when text.length() > MOST_VALUE -> text.substring(0, MOST_VALUE) + "...";
            default -> value;
        };
    }

    /// One object for each row.
    List<Map<String, @Nullable Object>> objects() {
        List<String> names = names();
        List<Map<String, @Nullable Object>> objects = new ArrayList<>();
        for (Table.Row row : table.rows()) {
            Map<String, @Nullable Object> object = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                object.put(names.get(i), row.values().get(i));
            }
            objects.add(object);
        }
        return objects;
    }

    /// Names of the columns; the second of a name has a number.
    private List<String> names() {
        Map<String, Integer> times = new HashMap<>();
        return table.columns().stream()
                .map(column -> {
                    int time = times.merge(column.name(), 1, Integer::sum);
                    return time == 1 ? column.name() : column.name() + "_" + time;
                })
                .toList();
    }
}
