package io.dyber.zernel.serve.mcp;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The first rows of a table, as many as an answer has room for.
///
/// @param table with what is shown
/// @param cut what was left out, in words; empty where nothing was
record Rows(Table table, String cut) {
    /// Characters of one value.
    private static final int MOST_VALUE = 2_000;

    /// @param most rows; one more says that there are more
    static Rows of(Table all, int most) {
        return of(all, most, 1);
    }

    /// @param most rows
    /// @param tables of the answer, which share its room
    static Rows of(Table all, int most, int tables) {
        int room = Answer.MOST_TEXT / tables;
        int longest = Math.min(MOST_VALUE, room / Math.max(1, all.columns().size()));
        int names = all.columns().stream().mapToInt(column -> column.name().length()).sum();
        List<Table.Row> rows = new ArrayList<>();
        Set<String> cut = new LinkedHashSet<>();
        int text = 0;
        for (Table.Row row : all.rows()) {
            List<@Nullable Object> values = new ArrayList<>();
            boolean shortened = false;
            text += names;
            for (Object value : row.values()) {
                Object shown = shown(value, longest);
                shortened |= shown instanceof String one && !one.equals(value);
                text += String.valueOf(shown).length();
                values.add(shown);
            }
            if (rows.size() == most || (text > room && !rows.isEmpty())) {
                cut.add("only the first " + rows.size() + " rows; there are more");
                break;
            }
            if (shortened) {
                cut.add("texts of more than " + longest + " characters are shortened");
            }
            rows.add(new Table.Row(row.positions(), values));
        }
        return new Rows(new Table(all.columns(), rows), String.join("; ", cut));
    }

    /// JSON has no other numbers than finite ones.
    private static @Nullable Object shown(@Nullable Object value, int longest) {
        return switch (value) {
            case null -> null;
            case Double real when !Double.isFinite(real) -> null;
            case String text -> shortened(text, text, longest);
            case List<?> list -> shortened(list, list.toString(), longest);
            case Map<?, ?> map -> shortened(map, map.toString(), longest);
            default -> value;
        };
    }

    private static Object shortened(Object value, String text, int longest) {
        return text.length() > longest ? text.substring(0, longest) + "..." : value;
    }

    /// Members of an answer that has several tables: their rows by their names, and what was left out of which.
    static Map<String, @Nullable Object> members(Map<String, Rows> tables) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        tables.forEach((name, rows) -> members.put(name, rows.objects()));
        members.put("cut", tables.entrySet().stream()
                .filter(table -> !table.getValue().cut().isEmpty())
                .map(table -> table.getKey() + ": " + table.getValue().cut())
                .collect(Collectors.joining("; ")));
        return members;
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
