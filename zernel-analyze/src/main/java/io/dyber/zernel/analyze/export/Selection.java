package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingException;
import io.dyber.zernel.analyze.Table;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Which events of a recording are exported.
///
/// @param kinds these kinds; all when empty
/// @param pids these processes; all when empty
/// @param from nanoseconds since the epoch; events that end before are left out
/// @param to nanoseconds since the epoch; events that begin then or later are left out
/// @param zero nanoseconds since the epoch of what a trace calls its time 0
public record Selection(List<String> kinds, List<Long> pids, long from, long to, long zero) {
    /// The selection in seconds since the start of the recording; null bounds are open.
    ///
    /// @throws RecordingException if no recording knows one of the kinds
    public static Selection of(
            Database database,
            List<String> kinds,
            List<Long> pids,
            @Nullable Double fromSeconds,
            @Nullable Double toSeconds) {
        TreeSet<String> known = new TreeSet<>(database.query("SELECT DISTINCT kind FROM kinds").texts("kind"));
        for (String kind : kinds) {
            if (!known.contains(kind)) {
                throw new RecordingException(
                        "selecting '" + kind + "': no such kind of event", "there are " + String.join(", ", known));
            }
        }
        Table.Row span = database.query(
                        """
                        SELECT coalesce((SELECT min(started_ns) FROM recordings), min(ts_ns)) AS zero_ns,
                            min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
                        FROM events
                        """)
                .only();
        long zero = span.integer("zero_ns");
        return new Selection(
                kinds,
                pids,
                fromSeconds == null ? span.integer("first_ns") : zero + Math.round(fromSeconds * 1e9),
                toSeconds == null ? span.integer("last_ns") + 1 : zero + Math.round(toSeconds * 1e9),
                zero);
    }

    /// The condition on rows of `events`.
    public String where() {
        String kind = kinds.stream().map(Selection::quoted).collect(Collectors.joining(", "));
        return during("ts_ns", "ts_ns + coalesce(dur_ns, 0)")
                + (kinds.isEmpty() ? "" : " AND kind IN (" + kind + ")")
                + ofProcesses();
    }

    /// The condition on rows of any view that has a process.
    String ofProcesses() {
        String list = pids.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return pids.isEmpty() ? "" : " AND (pid IS NULL OR pid IN (" + list + "))";
    }

    /// The condition on when a row begins and ends.
    String during(String begin, String end) {
        return begin + " < " + to + " AND " + end + " >= " + from;
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
