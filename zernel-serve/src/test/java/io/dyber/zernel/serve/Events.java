package io.dyber.zernel.serve;

import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;

/// Events for tests, written down one by one.
final class Events {
    private final EventBatch batch = new EventBatch(16);

    /// A span of thread `pid` of process `pid`.
    Events add(String kind, String name, long pid, long startNanos, long durationNanos) {
        batch.addRow()
                .put(TextColumn.KIND, kind)
                .put(TextColumn.NAME, name)
                .put(LongColumn.PID, pid)
                .put(LongColumn.TID, pid)
                .put(LongColumn.TS_NS, startNanos)
                .put(LongColumn.DUR_NS, durationNanos);
        return this;
    }

    /// Adds a column to the event added last.
    Events with(LongColumn column, long value) {
        batch.put(column, value);
        return this;
    }

    /// Adds a column to the event added last.
    Events with(TextColumn column, String value) {
        batch.put(column, value);
        return this;
    }

    EventBatch batch() {
        return batch;
    }
}
