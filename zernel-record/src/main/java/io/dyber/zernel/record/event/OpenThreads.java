package io.dyber.zernel.record.event;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The threads that are in a probed call. Not thread-safe.
final class OpenThreads {
    /// A thread may end in a call without anybody saying so. Of more than so many, the older half is given up.
    static final int MOST = 32_768;

    private final Map<Integer, OpenCalls> threads = new HashMap<>();

    /// The thread that was asked for last: mostly the next one too, and found without making a key.
    private int lastTid;
    private @Nullable OpenCalls last;

    OpenCalls of(int tid) {
        OpenCalls open = find(tid);
        if (open == null) {
            open = new OpenCalls();
            threads.put(tid, open);
            last = open;
        }
        return open;
    }

    @Nullable
    OpenCalls find(int tid) {
        if (last == null || lastTid != tid) {
            lastTid = tid;
            last = threads.get(tid);
        }
        return last;
    }

    /// Gives up what a thread of this number has entered: the number is another thread's now.
    void end(int tid, Consumer<OpenCalls> abandon) {
        OpenCalls open = threads.remove(tid);
        last = null;
        if (open != null) {
            abandon.accept(open);
        }
    }

    /// Drops threads that are in no call, and gives up those of processes that are gone.
    void release(Set<Integer> gone, Consumer<OpenCalls> abandon) {
        threads.values().removeIf(open -> open.depth() == 0);
        last = null;
        List<Integer> ended = new ArrayList<>();
        threads.forEach((tid, open) -> {
            if (gone.contains(open.pid())) {
                ended.add(tid);
            }
        });
        ended.forEach(tid -> end(tid, abandon));
        if (threads.size() > MOST) {
            List<Map.Entry<Integer, OpenCalls>> byAge = new ArrayList<>(threads.entrySet());
            byAge.sort(Comparator.comparingLong(thread -> thread.getValue().lastStart()));
            byAge.subList(0, byAge.size() / 2).forEach(thread -> end(thread.getKey(), abandon));
        }
    }

    void forEach(Consumer<OpenCalls> action) {
        threads.values().forEach(action);
    }

    /// Gives up everything.
    void clear(Consumer<OpenCalls> abandon) {
        threads.values().forEach(abandon);
        threads.clear();
        last = null;
    }
}
