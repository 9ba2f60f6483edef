package io.dyber.zernel.serve;

import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Brings the calls of the ranks of one collective together: who came how much later than the first. The ranks are
/// those of the recording; a collective counts when all its ranks have called it, or when it is old and two have.
/// The same rules as the analyzer's view `collective_arrivals`.
///
/// Not thread-safe.
final class CollectiveArrivals {
    private static final int OPEN = 4096;
    private static final int COMMUNICATORS = 10_000;

    private final Listener listener;
    /// Communicators with sends and receives, whose numbers are not the same in all ranks.
    private final Set<Long> oneSided = new HashSet<>();
    private final Map<Key, Map<Long, Call>> open = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Map<Long, Call>> eldest) {
            if (size() <= OPEN) {
                return false;
            }
            tell(eldest.getKey(), eldest.getValue());
            return true;
        }
    };

    /// Told about each collective that two ranks or more have called.
    interface Listener {
        /// A collective was called by all its ranks, or will be by no more.
        ///
        /// @param calls by rank
        /// @param firstNanos when the first rank called
        void collective(String function, Map<Long, Call> calls, long firstNanos);
    }

    /// A rank's call.
    record Call(long pid, long startNanos) {}

    private record Key(long communicator, long number, String function) {}

    CollectiveArrivals(Listener listener) {
        this.listener = listener;
    }

    void accept(EventBatch batch, int row) {
        String function = batch.text(TextColumn.NAME, row);
        long communicator = batch.number(LongColumn.COMM_ID, row);
        long number = batch.number(LongColumn.SEQ, row);
        if (function == null || communicator == EventBatch.NULL || number == EventBatch.NULL) {
            return;
        }
        if (isOneSided(function, communicator)) {
            return;
        }
        Key key = new Key(communicator, number, function);
        long rank = batch.number(LongColumn.RANK, row, 0);
        @Nullable Map<Long, Call> known = open.get(key);
        if (known != null && known.containsKey(rank)) {
            finish(key, known); // the recording is played again
            known = null;
        }
        Map<Long, Call> calls = known != null ? known : new HashMap<>();
        calls.put(rank, new Call(batch.number(LongColumn.PID, row), batch.number(LongColumn.TS_NS, row)));
        if (calls.size() >= batch.number(LongColumn.NRANKS, row, Long.MAX_VALUE)) {
            finish(key, calls);
        } else {
            open.put(key, calls);
        }
    }

    private boolean isOneSided(String function, long communicator) {
        if ((function.equals("ncclSend") || function.equals("ncclRecv")) && oneSided.size() < COMMUNICATORS) {
            oneSided.add(communicator);
        }
        return oneSided.contains(communicator);
    }

    private void finish(Key key, Map<Long, Call> calls) {
        open.remove(key);
        tell(key, calls);
    }

    private void tell(Key key, Map<Long, Call> calls) {
        if (calls.size() > 1) {
            long first = calls.values().stream().mapToLong(Call::startNanos).min().orElseThrow();
            listener.collective(key.function(), calls, first);
        }
    }
}
