package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Cursor;
import io.dyber.zernel.analyze.duckdb.Table;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// The selected events, those of each thread in the order of their begin, the enclosing one first.
///
/// They are read in windows of time of about a million events: sorting all rows of a long recording at once would
/// need room for all of them.
final class EventWindows {
    static final long EVENTS_PER_WINDOW = 1_000_000;
    private static final int FIRST_MORE = 10;
    private static final Set<String> CORE =
            Set.of("recording", "pid", "tid", "kind", "name", "ts_ns", "dur_ns", "comm");
    /// What a [Cursor] reads.
    private static final Set<String> READABLE = Set.of("BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR");

    private final Database database;
    private final Selection selection;
    private final long eventsPerWindow;
    private final List<String> more;
    private final Map<String, String> types;
    /// Which of `more` events of a kind ever have: to ask each event for all of them would be most of the work.
    private final Map<String, List<Integer>> filled = new HashMap<>();

    EventWindows(Database database, Selection selection, long eventsPerWindow) {
        this.database = database;
        this.selection = selection;
        this.eventsPerWindow = eventsPerWindow;
        this.more = database.columns().stream()
                .filter(column -> !CORE.contains(column))
                .toList();
        this.types = database.query("SELECT column_name, column_type FROM (DESCRIBE events)").rows().stream()
                .collect(Collectors.toMap(row -> row.requiredText("column_name"), row -> row.requiredText("column_type")));
        String counts = more.stream().map(name -> "count(" + identifier(name) + ")").collect(Collectors.joining(", "));
        for (Table.Row row : database.query(
                        "SELECT kind, " + counts + " FROM events WHERE " + selection.where() + " GROUP BY kind")
                .rows()) {
            filled.put(
                    row.requiredText("kind"),
                    IntStream.range(0, more.size())
                            .filter(i -> !Long.valueOf(0).equals(row.values().get(1 + i)))
                            .boxed()
                            .toList());
        }
    }

    interface Sink {
        /// Takes an event; `pid` and `tid` are 0 where it has none.
        void accept(int recording, long pid, long tid, Slice slice) throws IOException;
    }

    /// Reads the events and returns how many.
    long forEach(Sink sink) throws IOException {
        long length = Math.max(1, selection.to() - selection.from());
        long windows = 1 + database.rows() / eventsPerWindow;
        long step = 1 + length / windows;
        long events = 0;
        // What began before the selection and reaches into it comes first.
        String at = selection.at("ts_ns");
        String begins = at + " < ";
        for (long until = selection.from(); ; until += step) {
            long last = Math.min(until, selection.to());
            events += read(begins + last, sink);
            begins = at + " >= " + last + " AND " + at + " < ";
            if (last == selection.to()) {
                return events;
            }
        }
    }

    private long read(String begins, Sink sink) throws IOException {
        long events = 0;
        try (Cursor cursor = database.stream(sql(begins))) {
            while (cursor.next()) {
                sink.accept((int) cursor.integer(0, 0), cursor.integer(1, 0), cursor.integer(2, 0), slice(cursor));
                events++;
            }
        }
        return events;
    }

    private String sql(String begins) {
        String columns = more.stream().map(this::column).collect(Collectors.joining(", "));
        return "SELECT events.recording, events.pid, events.tid, events.kind, events.name, "
                + selection.at("events.ts_ns", "events.recording") + ", events.dur_ns, flow, is_first, is_last, " + columns
                + " FROM (FROM events WHERE " + begins + " AND " + selection.where() + ") AS events "
                + "LEFT JOIN (FROM _rank_flows WHERE " + begins + ") AS flows "
                + "ON events.kind = 'nccl' AND coalesce(events.depth, 0) = 0 AND flows.recording = events.recording "
                + "AND flows.pid = events.pid AND flows.tid = events.tid AND flows.ts_ns = events.ts_ns "
                + "ORDER BY events.recording, events.pid, events.tid, events.ts_ns, "
                + "events.dur_ns DESC NULLS LAST, events.depth";
    }

    private Slice slice(Cursor cursor) {
        String kind = String.valueOf(cursor.text(3));
        Map<String, Object> arguments = new LinkedHashMap<>();
        for (int i : filled.getOrDefault(kind, List.of())) {
            Object value = cursor.value(FIRST_MORE + i);
            if (value != null) {
                arguments.put(more.get(i), value);
            }
        }
        long flow = cursor.integer(7, 0);
        String name = cursor.text(4);
        return new Slice(
                kind,
                name == null || name.isEmpty() ? kind : name,
                cursor.integer(5, 0),
                cursor.integer(6, Slice.INSTANT),
                arguments,
                flow == 0 ? null : new Slice.Flow(flow, cursor.flag(8), cursor.flag(9)));
    }

    /// A column; as text where it is of another type, which a foreign file may have.
    private String column(String name) {
        String column = "events." + identifier(name);
        return READABLE.contains(types.get(name)) ? column : "CAST(" + column + " AS VARCHAR)";
    }

    private static String identifier(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }
}
