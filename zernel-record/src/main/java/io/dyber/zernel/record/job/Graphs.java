package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import java.util.HashMap;
import java.util.Map;

/// How many kernel launches went into each CUDA graph.
final class Graphs {
    private final Columns columns;
    private final Map<Handle, Long> capturing = new HashMap<>();
    private final Map<Handle, Long> launches = new HashMap<>();

    Graphs(Columns columns) {
        this.columns = columns;
    }

    private Handle stream(Row row) {
        return new Handle(row.pid(), row.get(columns.stream));
    }

    private Handle graph(Row row) {
        return new Handle(row.pid(), row.get(columns.addr));
    }

    void begin(Row row) {
        if (columns.isOutermost(row) && columns.succeeded(row)) {
            capturing.put(stream(row), 0L);
        }
    }

    void launched(Row row) {
        if (!capturing.isEmpty() && columns.isOutermost(row) && columns.succeeded(row)) {
            capturing.computeIfPresent(stream(row), (_, count) -> count + 1);
        }
    }

    void end(Row row) {
        Long count = columns.isOutermost(row) ? capturing.remove(stream(row)) : null;
        if (count != null && columns.succeeded(row)) {
            launches.put(graph(row), count);
            row.put(columns.count, count);
        }
    }

    void instantiated(Row row) {
        Long count = launches.get(new Handle(row.pid(), row.get(columns.src)));
        row.clear(columns.src);
        if (count != null && columns.succeeded(row)) {
            launches.put(graph(row), count);
            row.put(columns.count, count);
        }
    }

    void graphLaunched(Row row) {
        Long count = launches.get(graph(row));
        if (count != null) {
            row.put(columns.count, count);
        }
    }

    void forget(int pid) {
        capturing.keySet().removeIf(handle -> handle.pid() == pid);
        launches.keySet().removeIf(handle -> handle.pid() == pid);
    }
}
