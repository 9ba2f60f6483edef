package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Which events of a recording are exported.
///
/// @param kinds these kinds; all when empty
/// @param pids these processes; all when empty
/// @param from nanoseconds since the epoch; events that end before are left out
/// @param to nanoseconds since the epoch; events that begin then or later are left out
/// @param zero nanoseconds since the epoch of what a trace calls its time 0
/// @param shifts by recording, nanoseconds to add to its times to have them by the clock of the first one, as the bounds
///     are; empty where all are
public record Selection(List<String> kinds, List<Long> pids, long from, long to, long zero, List<Long> shifts) {
    /// The selection in seconds since the start of the recording; null bounds are open.
    ///
    /// @throws RecordingException if no recording knows one of the kinds
    public static Selection of(
            Database database,
            List<String> kinds,
            List<Long> pids,
            @Nullable Double fromSeconds,
            @Nullable Double toSeconds) {
        database.requireKinds(kinds);
        List<Long> shifts = shifts(database);
        String at = at("ts_ns", "recording", shifts);
        Table.Row span = database.query("SELECT coalesce((SELECT min(" + at("started_ns", "recording", shifts)
                        + ") FROM recordings), min(" + at + ")) AS zero_ns, min(" + at + ") AS first_ns, max(" + at
                        + ") AS last_ns FROM events")
                .only();
        long zero = span.integer("zero_ns");
        return new Selection(
                kinds,
                pids,
                fromSeconds == null ? span.integer("first_ns") : zero + Math.round(fromSeconds * 1e9),
                toSeconds == null ? span.integer("last_ns") + 1 : zero + Math.round(toSeconds * 1e9),
                zero,
                shifts);
    }

    private static List<Long> shifts(Database database) {
        if (database.recordings().size() == 1) {
            return List.of();
        }
        List<Long> shifts = database.query("SELECT shift_ns FROM clock_shifts ORDER BY recording").rows().stream()
                .map(row -> row.integer("shift_ns"))
                .toList();
        return shifts.stream().allMatch(shift -> shift == 0) ? List.of() : shifts;
    }

    /// A column of times by the clock of the first recording.
    String at(String time) {
        return at(time, "recording", shifts);
    }

    /// The same where more than one relation has a column `recording`.
    String at(String time, String recording) {
        return at(time, recording, shifts);
    }

    private static String at(String time, String recording, List<Long> shifts) {
        return shifts.isEmpty() ? time : "(" + time + " + " + shifts + "[" + recording + " + 1])";
    }

    /// The condition on rows of `events`.
    public String where() {
        return where("ts_ns", "ts_ns + coalesce(dur_ns, 0)");
    }

    /// The condition on rows of a view that has kinds and processes, by the columns of when a row begins and ends.
    String where(String begin, String end) {
        String kind = kinds.stream().map(Selection::quoted).collect(Collectors.joining(", "));
        return during(begin, end)
                + (kinds.isEmpty() ? "" : " AND kind IN (" + kind + ")")
                + ofProcesses();
    }

    /// The same of all kinds and processes.
    String inTime() {
        return during("ts_ns", "ts_ns + coalesce(dur_ns, 0)");
    }

    /// The condition on rows of any view that has a process.
    String ofProcesses() {
        String list = pids.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return pids.isEmpty() ? "" : " AND (pid IS NULL OR pid IN (" + list + "))";
    }

    /// The condition on when a row begins and ends.
    String during(String begin, String end) {
        return at(begin) + " < " + to + " AND " + at(end) + " >= " + from;
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
