package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Gpu;
import io.dyber.zernel.record.simulate.machine.Noise;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/// The communicator of all ranks. An operation runs when the last rank has it ready, and ends on all ranks at once.
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
    private final List<List<Entry>> entered = new ArrayList<>();
    private final List<Long> sizes = new ArrayList<>();
    private final int[] next;
    private long sequence;
    private OptionalLong missing = OptionalLong.empty();

    Collectives(int ranks, Noise noise, double latencyNanos, double bytesPerNano) {
        this.ranks = ranks;
        this.noise = noise;
        this.latencyNanos = latencyNanos;
        this.bytesPerNano = bytesPerNano;
        this.next = new int[ranks];
    }

    /// A rank enqueues its next operation, whose input is ready at a time; returns the operation's number.
    long enter(int rank, Gpu gpu, long bytes, long readyNanos) {
        int index = next[rank]++;
        if (index == entered.size()) {
            entered.add(new ArrayList<>());
            sizes.add(bytes);
        }
        entered.get(index).add(new Entry(gpu, readyNanos));
        return sequence + index;
    }

    /// The number of the first operation that not all ranks came to.
    OptionalLong missing() {
        return missing;
    }

    /// Runs what all ranks have enqueued since the last call. A rank that did not come lets all others wait for ever.
    void run() {
        for (int i = 0; i < entered.size(); i++) {
            if (entered.get(i).size() < ranks && missing.isEmpty()) {
                missing = OptionalLong.of(sequence + i);
            }
            run(entered.get(i), nanos(sizes.get(i), sequence + i));
        }
        sequence += entered.size();
        entered.clear();
        sizes.clear();
        Arrays.fill(next, 0);
    }

    private void run(List<Entry> entries, long nanos) {
        long start = 0;
        for (Entry entry : entries) {
            start = Math.max(start, Math.max(entry.readyNanos(), entry.gpu().collectives().freeNanos()));
        }
        long end = entries.size() < ranks ? Program.NEVER : start + nanos;
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
}
