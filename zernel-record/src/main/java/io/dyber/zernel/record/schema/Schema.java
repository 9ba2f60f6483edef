package io.dyber.zernel.record.schema;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The columns of the one wide table: what every kind has, then each kind's own in order of first appearance, then
/// those that the user's probes add.
///
/// @param kinds in the order of the probes that produce them
public record Schema(List<Column> columns, List<EventType> kinds) {
    private static final Column KIND =
            new Column("kind", ColumnType.VARCHAR, "", "what happened: region, backward, io, wait, ...");
    private static final Column NAME =
            new Column("name", ColumnType.VARCHAR, "", "the region, function or system call");

    /// The schema of these kinds and the extra columns.
    ///
    /// @throws IllegalArgumentException when two kinds disagree on what a column is
    public static Schema of(List<EventType> kinds, Collection<Column> extra) {
        Map<String, Column> columns = new LinkedHashMap<>();
        columns.put(KIND.name(), KIND);
        columns.put(NAME.name(), NAME);
        for (EventType kind : kinds) {
            for (Field field : kind.fields()) {
                add(columns, field.column(), "kind '" + kind.kind() + "'");
            }
        }
        for (Column column : extra) {
            add(columns, column, "probe");
        }
        return new Schema(List.copyOf(columns.values()), List.copyOf(kinds));
    }

    private static void add(Map<String, Column> columns, Column column, String by) {
        Column known = columns.putIfAbsent(column.name(), column);
        if (known != null && (known.type() != column.type() || !known.unit().equals(column.unit()))) {
            throw new IllegalArgumentException(
                    "reading the schema: " + by + " uses column '" + column.name() + "' as " + column.type()
                            + " " + column.unit() + ", but it is " + known.type() + " " + known.unit());
        }
    }

    /// Where column `name` stands.
    ///
    /// @throws IllegalArgumentException when there is none
    public int index(String name) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equals(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException("looking up column '" + name + "': no such column");
    }

    public boolean has(String name) {
        return columns.stream().anyMatch(column -> column.name().equals(name));
    }

    /// The columns that rows of a kind can fill.
    public static List<String> columnsOf(EventType kind) {
        List<String> names = new ArrayList<>(List.of(KIND.name(), NAME.name()));
        for (Field field : kind.fields()) {
            if (!names.contains(field.name())) {
                names.add(field.name());
            }
        }
        return List.copyOf(names);
    }

    /// The table as DDL: the golden `bpf/schema.sql`.
    public String ddl() {
        StringBuilder sql = new StringBuilder("CREATE TABLE events (\n");
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            boolean required = column.name().equals("kind") || column.name().equals("ts_ns");
            sql.append("    ")
                    .append(column.name())
                    .append(' ')
                    .append(column.type())
                    .append(required ? " NOT NULL" : "")
                    .append(i + 1 < columns.size() ? "," : "")
                    .append(" -- ")
                    .append(column.unit().isEmpty() ? "" : "[" + column.unit() + "] ")
                    .append(column.comment())
                    .append('\n');
        }
        return sql.append(");\n").toString();
    }
}
