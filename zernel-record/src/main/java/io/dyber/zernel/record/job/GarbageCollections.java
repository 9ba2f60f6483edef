package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.StringDictionary;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Runs of Python's garbage collector: puts begin and end together, keeps runs that take a while, and knows which of them the
/// program asked for. A process collects once at a time, so what it is asked for comes next.
final class GarbageCollections {
    /// Young objects are collected hundreds of times a second, each time for some microseconds.
    static final long SHORTEST_NANOS = 100_000;

    private static final String ASKED = "gc.collect";
    private static final int OLDEST = 2;

    private final Columns columns;
    private final int askedName;
    private final Set<Integer> asked = new HashSet<>();
    private final Map<Integer, Begun> begun = new HashMap<>();

    private record Begun(int tid, long start, long name, long generation) {}

    GarbageCollections(Columns columns, StringDictionary texts) {
        this.columns = columns;
        this.askedName = texts.id(ASKED);
    }

    void forget(int pid) {
        asked.remove(pid);
        begun.remove(pid);
    }

    /// `gc.collect()` is called.
    void asked(int pid) {
        asked.add(pid);
    }

    /// Python 3.13 chooses the generation of an automatic one only later: until then it is -1.
    void begun(Row row) {
        long name = asked.remove(row.pid()) ? askedName : row.get(columns.name);
        begun.put(row.pid(), new Begun(row.tid(), row.get(columns.start), name, row.get(columns.generation)));
    }

    /// The row becomes the collection's. What began before the recording is not one.
    void ended(Row row) {
        Begun begin = begun.remove(row.pid());
        long duration = begin == null ? 0 : row.get(columns.start) - begin.start;
        if (begin == null || begin.tid != row.tid() || duration < SHORTEST_NANOS) {
            row.leaveOut();
            return;
        }
        row.put(columns.name, begin.name);
        row.put(columns.start, begin.start);
        row.put(columns.duration, duration);
        if (begin.generation >= 0) {
            row.put(columns.generation, begin.generation);
        }
    }

    /// What ends a collection of all objects is also called outside one, when the interpreter ends.
    void endedFull(Row row) {
        Begun begin = begun.get(row.pid());
        if (begin != null && begin.generation >= 0 && begin.generation < OLDEST) {
            row.leaveOut();
            return;
        }
        ended(row);
        row.put(columns.generation, OLDEST);
    }
}
