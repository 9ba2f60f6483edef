package io.dyber.zernel.serve.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// What was inferred so far from the recording that a source hands out. One thread adds; each [Reader] gets all of it,
/// as event time reaches it.
public final class Inferences {
    private static final int DROPPED_AT_ONCE = 4096;

    private final boolean replayable;
    private final List<Inferred> list = new ArrayList<>();
    /// How many came before the first of `list`.
    private long dropped;
    private volatile long added;
    private volatile long knownUntilNanos = Long.MIN_VALUE;

    /// @param replayable a later reader begins at the start again; else what one has read is forgotten
    public Inferences(boolean replayable) {
        this.replayable = replayable;
    }

    /// Adds more, in the order of event time.
    public synchronized void add(List<? extends Inferred> more) {
        list.addAll(more);
        added += more.size();
    }

    /// All that happened before this event time was looked at.
    public void knownUntil(long nanos) {
        knownUntilNanos = nanos;
    }

    public long knownUntilNanos() {
        return knownUntilNanos;
    }

    public Reader reader() {
        return new Reader();
    }

    /// Goes through all of it once.
    ///
    /// Not thread-safe.
    public final class Reader {
        private long position;
        private long shiftNanos;
        /// How many there were when `dueNanos` was found.
        private long seen;
        private long dueNanos = Long.MAX_VALUE;

        /// Begins at the start again, with all times moved on.
        public void startOver(long shift) {
            position = 0;
            seen = 0;
            dueNanos = Long.MAX_VALUE;
            shiftNanos = shift;
        }

        /// How far all times are moved on.
        public long shiftNanos() {
            return shiftNanos;
        }

        /// Gives what is new and holds at an event time.
        public void readUntil(long nanos, Consumer<Inferred> to) {
            if (dueNanos > nanos && seen == added) {
                return;
            }
            synchronized (Inferences.this) {
                seen = added;
                position = Math.max(position, dropped);
                dueNanos = Long.MAX_VALUE;
                while (position < added && dueNanos == Long.MAX_VALUE) {
                    Inferred next = list.get((int) (position - dropped));
                    if (nanos != Long.MAX_VALUE && next.atNanos() + shiftNanos > nanos) {
                        dueNanos = next.atNanos() + shiftNanos;
                    } else {
                        to.accept(next);
                        position++;
                    }
                }
                forgetRead();
            }
        }

        private void forgetRead() {
            if (!replayable && position - dropped >= DROPPED_AT_ONCE) {
                list.subList(0, (int) (position - dropped)).clear();
                dropped = position;
            }
        }
    }
}
