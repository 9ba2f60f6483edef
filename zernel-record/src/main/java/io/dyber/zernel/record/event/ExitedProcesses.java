package io.dyber.zernel.record.event;

import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/// The processes that have ended, until nothing of them can come any more: then what is known of them can go.
///
/// A record of one ring may be decoded after a later one of the other ring, though never by as much as [#GRACE_NANOS].
/// Time here is that of the records, so nothing needs to wake up. Not thread-safe.
final class ExitedProcesses {
    private static final long GRACE_NANOS = 10_000_000_000L;
    private static final long BETWEEN_NANOS = 1_000_000_000L;

    private final Map<Integer, Long> ended = new LinkedHashMap<>();
    private long released;

    /// The number is another process's now, or another program's.
    void began(int pid) {
        ended.remove(pid);
    }

    void ended(int pid, long time) {
        ended.put(pid, time);
    }

    /// At most once a second, says that time has passed and which processes are gone for good, perhaps none.
    void release(long now, Consumer<Set<Integer>> gone) {
        if (now - released < BETWEEN_NANOS) {
            return;
        }
        released = now;
        Set<Integer> due = new HashSet<>();
        Iterator<Map.Entry<Integer, Long>> oldest = ended.entrySet().iterator();
        while (oldest.hasNext()) {
            Map.Entry<Integer, Long> process = oldest.next();
            if (now - process.getValue() < GRACE_NANOS) {
                break;
            }
            due.add(process.getKey());
            oldest.remove();
        }
        gone.accept(due);
    }
}
