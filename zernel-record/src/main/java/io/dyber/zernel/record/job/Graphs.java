package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import java.util.Optional;

/// How many kernel launches went into each CUDA graph.
final class Graphs {
    private final Columns columns;
    private final PerProcess<Long> capturing = new PerProcess<>();
    private final PerProcess<Long> launches = new PerProcess<>();
    private boolean counts = true;

    Graphs(Columns columns) {
        this.columns = columns;
    }

    /// Launches are seen from now on, or no longer: how many a capture that is under way has is not known.
    void countLaunches(boolean seen) {
        counts = seen;
        capturing.clear();
    }

    void begin(Row row) {
        if (counts && columns.isOutermost(row) && columns.succeeded(row)) {
            capturing.put(row.pid(), row.get(columns.stream), 0L);
        }
    }

    void launched(Row row) {
        if (!capturing.isEmpty() && columns.isOutermost(row) && columns.succeeded(row)) {
            long stream = row.get(columns.stream);
            capturing.get(row.pid(), stream).ifPresent(count -> capturing.put(row.pid(), stream, count + 1));
        }
    }

    void end(Row row) {
        Optional<Long> count = columns.isOutermost(row)
                ? capturing.remove(row.pid(), row.get(columns.stream))
                : Optional.empty();
        note(row, count);
    }

    private void note(Row row, Optional<Long> count) {
        if (count.isPresent() && columns.succeeded(row)) {
            launches.put(row.pid(), row.get(columns.addr), count.get());
            row.put(columns.count, count.get());
        }
    }

    void instantiated(Row row) {
        Optional<Long> count = launches.get(row.pid(), row.get(columns.src));
        row.clear(columns.src);
        note(row, count);
    }

    void graphLaunched(Row row) {
        launches.get(row.pid(), row.get(columns.addr)).ifPresent(count -> row.put(columns.count, count));
    }

    void forget(int pid) {
        capturing.forget(pid);
        launches.forget(pid);
    }
}
