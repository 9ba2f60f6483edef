package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Interpretation;
import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.Texts;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Runs of Python's garbage collector: keeps those that take a while, and knows which of them the program asked for.
///
/// A process collects once at a time: a request during a collection is not followed.
final class GarbageCollections {
    /// Young objects are collected hundreds of times a second, each time for some microseconds.
    static final long SHORTEST_NANOS = 100_000;

    private static final String ASKED = "gc.collect";

    private final Columns columns;
    private final int askedName;
    private final Set<Integer> asked = new HashSet<>();
    private final Set<Integer> running = new HashSet<>();
    private final Map<Integer, Begun> begun = new HashMap<>();

    private record Begun(int tid, long start, long generation) {}

    GarbageCollections(Columns columns, Texts texts) {
        this.columns = columns;
        this.askedName = texts.id(ASKED);
    }

    void forget(int pid) {
        asked.remove(pid);
        running.remove(pid);
        begun.remove(pid);
    }

    /// `gc.collect()` is called.
    Interpretation asked() {
        return new Interpretation() {
            @Override
            public long entered(int pid, long first) {
                if (!running.contains(pid)) {
                    asked.add(pid);
                }
                return 0;
            }

            @Override
            public void complete(Row row, long note) {}
        };
    }

    /// The function that collects.
    Interpretation run() {
        return new Interpretation() {
            @Override
            public long entered(int pid, long first) {
                running.add(pid);
                return asked.remove(pid) ? 1 : 0;
            }

            @Override
            public void complete(Row row, long note) {
                running.remove(row.pid());
                if (note != 0) {
                    row.put(columns.name, askedName);
                }
                keep(row);
            }
        };
    }

    /// Python 3.13 chooses the generation of an automatic one only then, and is asked for -1.
    private void keep(Row row) {
        if (row.get(columns.generation) < 0) {
            row.clear(columns.generation);
        }
        long duration = row.get(columns.duration);
        if (duration != Row.NONE && duration < SHORTEST_NANOS) {
            row.leaveOut();
        }
    }

    /// The tracepoint at the begin.
    void begun(Row row) {
        begun.put(row.pid(), new Begun(row.tid(), row.get(columns.start), row.get(columns.generation)));
    }

    /// The tracepoint at the end, whose row becomes the collection's. What began before the recording is not one.
    void ended(Row row) {
        Begun begin = begun.remove(row.pid());
        if (begin == null || begin.tid != row.tid()) {
            row.leaveOut();
            return;
        }
        row.put(columns.duration, row.get(columns.start) - begin.start);
        row.put(columns.start, begin.start);
        if (begin.generation != Row.NONE) {
            row.put(columns.generation, begin.generation);
        }
        keep(row);
    }
}
