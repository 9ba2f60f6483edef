package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.format.RecordingException;
import java.util.List;

/// Two jobs compared: the recordings *before* and those *after*.
///
/// @param steps the view `step_diff`: no rows where one of the two has fewer than two steps
/// @param calls the view `call_diff`
/// @param lines the view `line_diff`: no rows where one of the two has no stacks
public record Diff(List<Recording> before, List<Recording> after, Table steps, Table calls, Table lines) {
    /// Compares.
    ///
    /// @param database opened by [Recordings#compare]
    /// @throws RecordingException if one of the two has no events
    public static Diff of(Database database) {
        List<Recording> before = recordings(database, 0);
        List<Recording> after = recordings(database, 1);
        requireEvents(before);
        requireEvents(after);
        Table lines = database.query(database.hasStacks() ? "FROM line_diff" : "FROM line_diff LIMIT 0");
        return new Diff(before, after, database.query("FROM step_diff"), database.query("FROM call_diff"), lines);
    }

    private static List<Recording> recordings(Database database, int side) {
        return database.query("SELECT recording FROM files WHERE side = ? ORDER BY recording", side).rows().stream()
                .map(row -> database.recordings().get((int) row.integer("recording")))
                .toList();
    }

    private static void requireEvents(List<Recording> recordings) {
        if (recordings.stream().mapToLong(Recording::rows).sum() == 0) {
            throw new RecordingException(
                    "comparing '" + recordings.getFirst().path() + "': the recording has no events",
                    "zernel-analyze info " + recordings.getFirst().path() + " says what each probe was waiting for");
        }
    }
}
