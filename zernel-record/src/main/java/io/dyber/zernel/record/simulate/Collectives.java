package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Gpu;
import io.dyber.zernel.record.simulate.machine.Noise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/// The communicator of all ranks. An operation runs when the last rank has it ready, and ends on all ranks at once. Where only
/// the ranks of one machine run, it ends when it did in a run of all.
final class Collectives {
    static final long COMM_ID = 0x51f1_7e55_0dd5_eed1L;
    static final long COMMUNICATOR = 0x55d1_0000_0000L;
    static final long STREAM = 0x55d2_0000_0000L;

    /// One rank's part in an operation.
    private record Entry(Gpu gpu, long readyNanos) {}

    private final int ranks;
    private final Noise noise;
    private final double latencyNanos;
    private final double bytesPerNano;
    private final Optional<Meetings> known;
    private final List<Long> ends = new ArrayList<>();
    private final List<List<Entry>> entered = new ArrayList<>();
    private final List<Long> sizes = new ArrayList<>();
    private final Map<Integer, Integer> next = new HashMap<>();
    private long sequence;
    private OptionalLong missing = OptionalLong.empty();

    Collectives(int ranks, Noise noise, double latencyNanos, double bytesPerNano) {
        this(ranks, noise, latencyNanos, bytesPerNano, Optional.empty());
    }

    /// @param known of a job that was run before, of which now only some ranks run
    Collectives(int ranks, Noise noise, double latencyNanos, double bytesPerNano, Optional<Meetings> known) {
        this.ranks = ranks;
        this.noise = noise;
        this.latencyNanos = latencyNanos;
        this.bytesPerNano = bytesPerNano;
        this.known = known;
    }

    /// A rank enqueues its next operation, whose input is ready at a time; returns the operation's number.
    long enter(int rank, Gpu gpu, long bytes, long readyNanos) {
        int index = next.merge(rank, 1, Integer::sum) - 1;
        if (index == entered.size()) {
            entered.add(new ArrayList<>());
            sizes.add(bytes);
        }
        entered.get(index).add(new Entry(gpu, readyNanos));
        return sequence + index;
    }

    /// The number of the first operation that not all ranks came to.
    OptionalLong missing() {
        return known.map(Meetings::missing).orElse(missing);
    }

    /// When each operation was done.
    List<Long> ends() {
        return ends;
    }

    /// Runs what all ranks have enqueued since the last call. A rank that did not come lets all others wait for ever.
    void run() {
        for (int i = 0; i < entered.size(); i++) {
            if (entered.get(i).size() < ranks && missing.isEmpty()) {
                missing = OptionalLong.of(sequence + i);
            }
            long end = end(entered.get(i), sequence + i, sizes.get(i));
            run(entered.get(i), end);
            ends.add(end);
        }
        sequence += entered.size();
        entered.clear();
        sizes.clear();
        next.clear();
    }

    private long end(List<Entry> entries, long number, long bytes) {
        if (known.isPresent()) {
            return known.get().endNanos(number);
        }
        if (entries.size() < ranks) {
            return Program.NEVER;
        }
        long start = 0;
        for (Entry entry : entries) {
            start = Math.max(start, Math.max(entry.readyNanos(), entry.gpu().collectives().freeNanos()));
        }
        return start + nanos(bytes, number);
    }

    private static void run(List<Entry> entries, long end) {
        for (Entry entry : entries) {
            long own = Math.max(entry.readyNanos(), entry.gpu().collectives().freeNanos());
            long _ = entry.gpu().collectives().enqueue(own, end - own);
        }
    }

    private long nanos(long bytes, long number) {
        noise.restart(number);
        double travelled = 2.0 * (ranks - 1) / ranks * bytes;
        return noise.near(latencyNanos + travelled / bytesPerNano, 0.06);
    }

    /// When the ranks of a job met: what those of one machine have to know of all others.
    ///
    /// @param startNanos when the communicator was made
    /// @param endNanos when each operation of it was done on all ranks, [Program#NEVER] for one that a rank did not come to
    /// @param missing the number of the first of those
    /// @param stepNanos mean length of a step of the first rank
    record Meetings(long startNanos, List<Long> endNanos, OptionalLong missing, long stepNanos) {
        Meetings {
            endNanos = List.copyOf(endNanos);
        }

        /// About when a step of so many began.
        long stepNanos(int step, int steps) {
            return endNanos.get((int) ((long) endNanos.size() * step / steps));
        }

        long endNanos(long number) {
            return number < endNanos.size() ? endNanos.get((int) number) : Program.NEVER;
        }
    }
}
