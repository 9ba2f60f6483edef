package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.ColumnType;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.sink.RecordingFile;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;

/// Events of all simulated threads on their way to the recording, in the order in which probes would have seen them
/// end.
final class Timeline {
    /// Shorter waits are below the recorder's threshold.
    private static final long WAIT_THRESHOLD_NANOS = 50_000;

    /// @param durNanos negative for an instant
    private record Event(
            long endNanos,
            long number,
            String kind,
            String name,
            long startNanos,
            long durNanos,
            Actor actor,
            List<Extra> extras) {}

    private final RecordingFile file;
    private final Texts texts;
    private final Batch batch;
    private final Map<String, Integer> columns = new HashMap<>();
    private final PriorityQueue<Event> pending =
            new PriorityQueue<>(Comparator.comparingLong(Event::endNanos).thenComparingLong(Event::number));
    private final Map<String, Long> byKind = new TreeMap<>();
    private long number;
    private long lastNanos;

    Timeline(RecordingFile file, List<Column> columns, Texts texts) {
        this.file = file;
        this.texts = texts;
        this.batch = new Batch(columns, 1 << 15);
        for (Column column : columns) {
            this.columns.put(column.name(), this.columns.size());
        }
    }

    void region(Actor actor, String name, long start, long end) {
        add("region", name, actor, start, end - start);
    }

    void backward(Actor actor, long start, long end) {
        add("backward", "Engine::execute", actor, start, end - start);
    }

    void process(Actor actor, String name, long at, Extra... extras) {
        add("process", name, actor, at, -1, extras);
    }

    /// A read system call; returns when it ends.
    long read(Actor actor, long fd, long bytes, long start, long dur) {
        add("io", "read", actor, start, dur, Extra.fd(fd), Extra.bytes(bytes), Extra.status(0));
        return start + dur;
    }

    void wait(Actor actor, String name, long start, long end, Extra what) {
        if (end - start >= WAIT_THRESHOLD_NANOS) {
            add("wait", name, actor, start, end - start, what, Extra.status(0));
        }
    }

    /// Writes what ended until `nanos`; nothing may be added before that any more.
    void writeUntil(long nanos) {
        while (!pending.isEmpty() && pending.peek().endNanos() <= nanos) {
            write(pending.remove());
        }
    }

    /// Writes the rest.
    void finish() {
        writeUntil(Long.MAX_VALUE);
        file.write(batch);
        batch.clear();
    }

    Map<String, Long> byKind() {
        return byKind;
    }

    /// When the last event written ended.
    long lastNanos() {
        return lastNanos;
    }

    private void add(String kind, String name, Actor actor, long start, long dur, Extra... extras) {
        pending.add(new Event(start + Math.max(dur, 0), number++, kind, name, start, dur, actor, List.of(extras)));
    }

    private void write(Event event) {
        if (batch.isFull()) {
            file.write(batch);
            batch.clear();
        }
        batch.addRow(texts.id(event.kind()));
        put("kind", event.kind());
        put("name", event.name());
        put("ts_ns", event.startNanos());
        if (event.durNanos() >= 0) {
            put("dur_ns", event.durNanos());
        }
        put("pid", event.actor().pid());
        put("tid", event.actor().tid());
        put("cpu", (long) event.actor().cpu());
        put("comm", event.actor().comm());
        for (Extra extra : event.extras()) {
            put(extra.column(), extra.value());
        }
        long _ = byKind.merge(event.kind(), 1L, Long::sum);
        lastNanos = Math.max(lastNanos, event.endNanos());
    }

    private void put(String column, Object value) {
        Integer index = columns.get(column);
        if (index != null) {
            batch.put(index, value instanceof String text ? texts.id(text) : (Long) value);
        }
    }
}
