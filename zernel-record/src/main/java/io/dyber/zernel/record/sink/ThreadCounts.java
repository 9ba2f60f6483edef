package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Texts;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// How many events of each kind each thread has, and when: the footer's `zernel.threads`. Whoever asks which threads
/// there are then need not read all events. Each segment has its own; those of a file are added.
final class ThreadCounts {
    static final String KEY = "zernel.threads";

    /// With more rows there is none: every reader of a file reads its footer.
    private static final int MOST = 10_000;
    private static final long NULL = Long.MIN_VALUE;
    private static final int RECENT = 256;
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES).build();

    private final Map<ThreadKind, Count> counts = new LinkedHashMap<>();

    private record ThreadKind(@Nullable Long pid, @Nullable Long tid, @Nullable String comm, String kind) {}

    /// @param first start of the first event, `last` end of the last, in nanoseconds since the epoch
    private record Count(long events, long first, long last) {
        Count plus(Count other) {
            return new Count(events + other.events, Math.min(first, other.first), Math.max(last, other.last));
        }
    }

    private record Row(
            @Nullable Long pid,
            @Nullable Long tid,
            @Nullable String comm,
            String kind,
            long events,
            long first_ns,
            long last_ns) {
        static Row of(ThreadKind key, Count count) {
            return new Row(
                    key.pid(), key.tid(), key.comm(), key.kind(), count.events(), count.first(), count.last());
        }

        ThreadKind key() {
            return new ThreadKind(pid, tid, comm, kind);
        }

        Count count() {
            return new Count(events, first_ns, last_ns);
        }
    }

    static ThreadCounts of(RowGroup group, Texts texts) {
        ThreadCounts counts = new ThreadCounts();
        Recent[] recent = Stream.generate(Recent::new).limit(RECENT).toArray(Recent[]::new);
        for (KindColumns rows : group.kinds()) {
            if (rows.rows() > 0) {
                counts.add(group, rows, recent, texts);
            }
        }
        return counts;
    }

    /// Of a segment's footer, which may be damaged or of a version that had none.
    static Optional<ThreadCounts> parse(@Nullable String json) {
        if (json == null) {
            return Optional.empty();
        }
        try {
            Row[] rows = Objects.requireNonNullElse(JSON.readValue(json, Row[].class), new Row[] {null});
            return Arrays.asList(rows).contains(null) ? Optional.empty() : Optional.of(of(rows));
        } catch (JacksonException _) {
            return Optional.empty();
        }
    }

    private static ThreadCounts of(Row[] rows) {
        ThreadCounts counts = new ThreadCounts();
        for (Row row : rows) {
            counts.add(row.key(), row.count());
        }
        return counts;
    }

    void add(ThreadCounts more) {
        more.counts.forEach(this::add);
    }

    long events() {
        return counts.values().stream().mapToLong(Count::events).sum();
    }

    /// Nothing where it would be too long.
    Optional<String> json() {
        return counts.size() > MOST
                ? Optional.empty()
                : Optional.of(JSON.writeValueAsString(counts.entrySet().stream()
                        .map(entry -> Row.of(entry.getKey(), entry.getValue()))
                        .toList()));
    }

    private void add(ThreadKind key, Count count) {
        counts.merge(key, count, Count::plus);
    }

    private void add(RowGroup group, KindColumns rows, Recent[] places, Texts texts) {
        int pid = group.column("pid");
        int tid = group.column("tid");
        int comm = group.column("comm");
        int start = group.column("ts_ns");
        int duration = group.column("dur_ns");
        String kind = texts.text((int) rows.constant(group.column("kind")));
        for (int row = 0; row < rows.rows(); row++) {
            long thread = value(rows, tid, row);
            Recent recent = places[(int) thread & places.length - 1];
            if (!recent.is(value(rows, pid, row), thread, value(rows, comm, row))) {
                settle(recent, kind, texts);
                recent.begin(value(rows, pid, row), thread, value(rows, comm, row));
            }
            long from = value(rows, start, row);
            recent.add(from, from + orZero(value(rows, duration, row)));
        }
        for (Recent recent : places) {
            settle(recent, kind, texts);
        }
    }

    private void settle(Recent recent, String kind, Texts texts) {
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

    private static long orZero(long value) {
        return value == NULL ? 0 : value;
    }

    private static long value(KindColumns rows, int column, int row) {
        boolean present = column >= 0 && rows.has(column) && (rows.isComplete(column) || rows.isPresent(column, row));
        if (!present) {
            return NULL;
        }
        int chunk = row >> KindColumns.CHUNK_BITS;
        int place = row & KindColumns.IN_CHUNK;
        return rows.isNarrow(column) ? rows.ints(column)[chunk][place] : rows.longs(column)[chunk][place];
    }
}
