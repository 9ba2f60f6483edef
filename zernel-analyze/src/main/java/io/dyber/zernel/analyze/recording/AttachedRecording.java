package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A recording and the relations in DuckDB that hold its rows.
///
/// @param side 0, or 1 for what is compared with that
public record AttachedRecording(Recording recording, int side, List<Relation> relations) {
    /// The key of its footer that no file has: a list of the traces whose rows it has, too.
    public static final String GPU_TRACES = "zernel.gpu_traces";

    public AttachedRecording(Recording recording, List<Relation> relations) {
        this(recording, 0, relations);
    }

    /// The same on a side and under another number.
    public AttachedRecording on(int newSide, int index) {
        Recording numbered = new Recording(
                index, recording.path(), recording.state(), recording.rows(), recording.metadata(), recording.note());
        return new AttachedRecording(numbered, newSide, relations);
    }

    /// The same with further rows and another footer.
    ///
    /// @param relation null where there are none
    public AttachedRecording with(@Nullable Relation relation, long rows, Map<String, String> metadata) {
        Recording more = new Recording(
                recording.index(), recording.path(), recording.state(), recording.rows() + rows, metadata, recording.note());
        List<Relation> all = new ArrayList<>(relations);
        if (relation != null) {
            all.add(relation);
        }
        return new AttachedRecording(more, side, all);
    }

    /// Something to select from, and its columns with their types in order.
    public record Relation(String sql, Map<String, String> columns) {
        public static Relation of(String sql, DuckDb duckDb) {
            Map<String, String> columns = new LinkedHashMap<>();
            for (Table.Row row : duckDb.query("DESCRIBE SELECT * FROM " + sql).rows()) {
                String name = row.requiredText("column_name");
                if (name.indexOf('\0') >= 0) {
                    throw new RecordingException("reading " + sql + ": damaged: a column's name ends early", null);
                }
                columns.put(name, row.requiredText("column_type"));
            }
            return new Relation(sql, columns);
        }
    }
}
