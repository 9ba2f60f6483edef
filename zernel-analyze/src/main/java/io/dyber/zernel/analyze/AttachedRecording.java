package io.dyber.zernel.analyze;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A recording and the relations in DuckDB that hold its rows.
record AttachedRecording(Recording recording, List<Relation> relations) {

    /// Something to select from, and its columns with their types in order.
    record Relation(String sql, Map<String, String> columns) {
        static Relation of(String sql, DuckDb duckDb) {
            Map<String, String> columns = new LinkedHashMap<>();
            for (Table.Row row : duckDb.query("DESCRIBE SELECT * FROM " + sql).rows()) {
                columns.put(row.requiredText("column_name"), row.requiredText("column_type"));
            }
            return new Relation(sql, columns);
        }
    }
}
