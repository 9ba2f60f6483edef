package io.dyber.zernel.record.parquet;

import io.dyber.zernel.record.event.StringDictionary;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/// How many events of each kind each thread has, and when: the footer's `zernel.threads`. Whoever asks which threads
/// there are then need not read all events. Each segment has its own; those of a file are added.
public final class ThreadCounts {

    /// With more rows there is none: every reader of a file reads its footer.
    private static final int MOST = 10_000;
    private static final long NULL = Long.MIN_VALUE;
    private static final int RECENT = 256;
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Map<ThreadKind, Count> counts = new LinkedHashMap<>();

    private record ThreadKind(@Nullable Long pid, @Nullable Long tid, @Nullable String comm, String kind) {}

    /// @param first start of the first event, `last` end of the last, in nanoseconds since the epoch
    private record Count(long events, long first, long last) {
        Count plus(Count other) {
            return new Count(events + other.events, Math.min(first, other.first), Math.max(last, other.last));
        }
    }

    /// @param scratch reused from call to call
    static ThreadCounts of(RowGroup group, StringDictionary texts, Scratch scratch) {
        ThreadCounts counts = new ThreadCounts();
        for (KindColumns rows : group.kinds()) {
            if (rows.rows() > 0) {
                counts.add(group, rows, scratch, texts);
            }
        }
        return counts;
    }

    /// Of a segment's footer, which may be damaged or of a version that had none.
    public static Optional<ThreadCounts> parse(@Nullable String json) {
        try {
            JsonNode rows = JSON.readTree(json == null ? "null" : json);
            boolean whole = rows.isArray() && rows.valueStream().allMatch(ThreadCounts::isRow);
            return whole ? Optional.of(of(rows)) : Optional.empty();
        } catch (JacksonException _) {
            return Optional.empty();
        }
    }

    private static boolean isRow(JsonNode row) {
        return row.path("kind").isString()
                && Stream.of("events", "first_ns", "last_ns").allMatch(name -> row.path(name).canConvertToLong());
    }

    private static ThreadCounts of(JsonNode rows) {
        ThreadCounts counts = new ThreadCounts();
        for (JsonNode row : rows) {
            Long pid = row.path("pid").canConvertToLong() ? row.path("pid").asLong() : null;
            Long tid = row.path("tid").canConvertToLong() ? row.path("tid").asLong() : null;
            String comm = row.path("comm").isString() ? row.path("comm").asString() : null;
            counts.add(
                    new ThreadKind(pid, tid, comm, row.path("kind").asString()),
                    new Count(row.path("events").asLong(), row.path("first_ns").asLong(), row.path("last_ns").asLong()));
        }
        return counts;
    }

    public void add(ThreadCounts more) {
        more.counts.forEach(this::add);
    }

    public boolean areFew() {
        return counts.size() <= MOST;
    }

    public long events() {
        return counts.values().stream().mapToLong(Count::events).sum();
    }

    /// Nothing where it would be too long. By nodes, not by binding: starting that takes as long as a million events.
    public Optional<String> json() {
        if (!areFew()) {
            return Optional.empty();
        }
        ArrayNode rows = JSON.createArrayNode();
        counts.forEach((key, count) -> rows.addObject()
                .put("pid", key.pid())
                .put("tid", key.tid())
                .put("comm", key.comm())
                .put("kind", key.kind())
                .put("events", count.events())
                .put("first_ns", count.first())
                .put("last_ns", count.last()));
        return Optional.of(rows.toString());
    }

    private void add(ThreadKind key, Count count) {
        counts.merge(key, count, Count::plus);
    }

    private void add(RowGroup group, KindColumns rows, Scratch scratch, StringDictionary texts) {
        String kind = texts.text((int) rows.constant(group.column("kind")));
        for (int chunk = 0; chunk << KindColumns.CHUNK_BITS < rows.rows(); chunk++) {
            int count = Math.min(KindColumns.CHUNK, rows.rows() - (chunk << KindColumns.CHUNK_BITS));
            long[] pids = values(rows, group.column("pid"), chunk, count, scratch.values[0]);
            long[] tids = values(rows, group.column("tid"), chunk, count, scratch.values[1]);
            long[] comms = values(rows, group.column("comm"), chunk, count, scratch.values[2]);
            long[] starts = values(rows, group.column("ts_ns"), chunk, count, scratch.values[3]);
            long[] durations = values(rows, group.column("dur_ns"), chunk, count, scratch.values[4]);
            for (int row = 0; row < count; row++) {
                Recent recent = scratch.recent[(int) tids[row] & RECENT - 1];
                if (!recent.is(pids[row], tids[row], comms[row])) {
                    settle(recent, kind, texts);
                    recent.begin(pids[row], tids[row], comms[row]);
                }
                recent.add(starts[row], durations[row] == NULL ? starts[row] : starts[row] + durations[row]);
            }
        }
        for (Recent recent : scratch.recent) {
            settle(recent, kind, texts);
        }
    }

    private void settle(Recent recent, String kind, StringDictionary texts) {
        if (recent.events > 0) {
            String comm = recent.comm == NULL ? null : texts.text((int) recent.comm);
            add(
                    new ThreadKind(boxed(recent.pid), boxed(recent.tid), comm, kind),
                    new Count(recent.events, recent.first, recent.last));
            recent.events = 0;
        }
    }

    /// Events that are not in the map yet, of the last thread that had its place: to look each event up would cost more
    /// than all else here.
    private static final class Recent {
        private long pid;
        private long tid;
        private long comm;
        private long events;
        private long first;
        private long last;

        boolean is(long pid, long tid, long comm) {
            return events > 0 && this.tid == tid && this.pid == pid && this.comm == comm;
        }

        void begin(long pid, long tid, long comm) {
            this.pid = pid;
            this.tid = tid;
            this.comm = comm;
            first = Long.MAX_VALUE;
            last = Long.MIN_VALUE;
        }

        void add(long from, long to) {
            events++;
            first = Math.min(first, from);
            last = Math.max(last, to);
        }
    }

    private static @Nullable Long boxed(long value) {
        return value == NULL ? null : value;
    }

    /// The values of a chunk, [#NULL] where there is none: as they are stored where all are there, else in `scratch`.
    private static long[] values(KindColumns rows, int column, int chunk, int count, long[] scratch) {
        if (column < 0 || !rows.has(column)) {
            Arrays.fill(scratch, 0, count, NULL);
            return scratch;
        }
        boolean narrow = rows.isNarrow(column);
        if (rows.isComplete(column) && !narrow) {
            return rows.longs(column)[chunk];
        }
        if (rows.isConstant(column)) {
            Arrays.fill(scratch, 0, count, rows.constant(column));
            return scratch;
        }
        int first = chunk << KindColumns.CHUNK_BITS;
        for (int row = 0; row < count; row++) {
            if (!rows.isComplete(column) && !rows.isPresent(column, first + row)) {
                scratch[row] = NULL;
            } else {
                scratch[row] = narrow ? rows.ints(column)[chunk][row] : rows.longs(column)[chunk][row];
            }
        }
        return scratch;
    }

    /// What counting needs beside the counts.
    static final class Scratch {
        private final long[][] values = new long[5][KindColumns.CHUNK];
        private final Recent[] recent = Stream.generate(Recent::new).limit(RECENT).toArray(Recent[]::new);
    }
}
