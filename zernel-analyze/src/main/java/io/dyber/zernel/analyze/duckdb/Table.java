package io.dyber.zernel.analyze.duckdb;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The result of a query, held in memory.
public record Table(List<Column> columns, List<Row> rows) {

    /// One result column; `type` is DuckDB's name for it, e.g. `BIGINT`.
    public record Column(String name, String type) {}

    /// The first row of a query that always has one.
    public Row only() {
        return rows.getFirst();
    }

    /// One column's values as text, NULLs left out.
    public List<String> texts(String column) {
        List<String> texts = new ArrayList<>();
        for (Row row : rows) {
            String text = row.text(column);
            if (text != null) {
                texts.add(text);
            }
        }
        return texts;
    }

    /// Tab-separated lines with a header, for scripts and debugging.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(String.join("\t", columns.stream().map(Column::name).toList()));
        for (Row row : rows) {
            text.append('\n')
                    .append(String.join("\t", row.values().stream().map(String::valueOf).toList()));
        }
        return text.toString();
    }

    /// One row. Values are `Long`, `Double`, `Boolean`, `String`, a `List` or, by name, a `Map` of these, or null; numbers
    /// that neither `Long` nor `Double` can hold are `BigInteger` and `BigDecimal`.
    public record Row(Map<String, Integer> positions, List<@Nullable Object> values) {
        /// The value of a column, which must exist.
        public @Nullable Object value(String column) {
            Integer position = positions.get(column);
            if (position == null) {
                throw new IllegalArgumentException("no column '" + column + "' in " + positions.keySet());
            }
            return values.get(position);
        }

        /// A column as text; null when it is NULL.
        public @Nullable String text(String column) {
            Object value = value(column);
            return value == null ? null : value.toString();
        }

        /// A column that is never NULL, as text.
        public String requiredText(String column) {
            String text = text(column);
            if (text == null) {
                throw new IllegalStateException("column '" + column + "' is NULL");
            }
            return text;
        }

        /// An integer column; 0 when it is NULL.
        public long integer(String column) {
            return value(column) instanceof Number number ? number.longValue() : 0;
        }

        /// A numeric column; null when it is NULL.
        public @Nullable Double real(String column) {
            return value(column) instanceof Number number ? number.doubleValue() : null;
        }

        /// A boolean column; false when it is NULL.
        public boolean flag(String column) {
            return value(column) instanceof Boolean flag && flag;
        }

        /// Whether the column has no value.
        public boolean isNull(String column) {
            return value(column) == null;
        }
    }
}
