package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Bytes allocated and not freed yet, per process and device, from allocation and free events. A free without its
/// allocation (it happened before the recording) changes nothing.
///
/// Not thread-safe.
public final class LiveMemory {
    /// Allocations alive at once; the ones beyond are not counted.
    private static final int ALLOCATIONS = 1_000_000;

    private final Map<Place, Use> uses = new LinkedHashMap<>();
    private final Map<Address, Allocation> alive = new HashMap<>();

    /// A device as one process sees it.
    public record Place(long pid, long device) {}

    /// Current and largest size, in bytes.
    public static final class Use {
        private long bytes;
        private long peakBytes;
        private boolean ended;

        public long bytes() {
            return bytes;
        }

        public long peakBytes() {
            return peakBytes;
        }
    }

    private record Address(long pid, long addr) {}

    private record Allocation(Place place, long bytes) {}

    void allocate(EventBatch batch, int row) {
        if (!isDone(batch, row)) {
            return;
        }
        long bytes = batch.number(LongColumn.BYTES, row);
        long addr = batch.number(LongColumn.ADDR, row);
        if (bytes == EventBatch.NULL || addr == EventBatch.NULL || alive.size() >= ALLOCATIONS) {
            return;
        }
        long pid = batch.number(LongColumn.PID, row);
        Place place = new Place(pid, batch.number(LongColumn.DEVICE, row, 0));
        Allocation replaced = alive.put(new Address(pid, addr), new Allocation(place, bytes));
        release(replaced);
        Use use = uses.compute(place, (_, known) -> known == null || known.ended ? new Use() : known);
        use.bytes += bytes;
        use.peakBytes = Math.max(use.peakBytes, use.bytes);
    }

    void free(EventBatch batch, int row) {
        if (isDone(batch, row)) {
            release(alive.remove(
                    new Address(batch.number(LongColumn.PID, row), batch.number(LongColumn.ADDR, row))));
        }
    }

    /// Whether the call did something, and is not the driver's half of a call of the runtime that is a row too.
    private static boolean isDone(EventBatch batch, int row) {
        return batch.number(LongColumn.DEPTH, row, 0) == 0 && batch.number(LongColumn.STATUS, row, 0) == 0;
    }

    /// A process has ended, and with it its allocations.
    void exit(long pid) {
        if (knows(pid)) {
            alive.keySet().removeIf(address -> address.pid() == pid);
            uses.forEach((place, use) -> {
                if (place.pid() == pid) {
                    use.bytes = 0;
                    use.ended = true;
                }
            });
        }
    }

    /// Forgets the processes that have ended, but these.
    void forgetEndedExcept(Set<Long> pids) {
        uses.entrySet().removeIf(entry -> entry.getValue().ended && !pids.contains(entry.getKey().pid()));
    }

    void clear() {
        uses.clear();
        alive.clear();
    }

    boolean knows(long pid) {
        return uses.keySet().stream().anyMatch(place -> place.pid() == pid);
    }

    public void forEach(BiConsumer<Place, Use> action) {
        uses.forEach(action);
    }

    private void release(@Nullable Allocation allocation) {
        if (allocation != null) {
            Use use = uses.get(allocation.place());
            if (use != null) {
                use.bytes -= allocation.bytes();
            }
        }
    }
}
