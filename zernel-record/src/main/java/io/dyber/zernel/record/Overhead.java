package io.dyber.zernel.record;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.Probes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// What the probes on functions cost the recorded processes: their calls times the measured [CallCost].
///
/// The drain thread [#add]s, the recording's thread asks.
final class Overhead {
    private static final int SLOTS = 64;

    /// Of so many processes, the half with fewer events is forgotten.
    private static final int MOST_PROCESSES = 20_000;

    /// Processes in the footer.
    private static final int MOST_DESCRIBED = 1000;

    private final CallCost cost;
    private final int pid;
    private final boolean[] isCall;
    private final int[] slotPids = new int[SLOTS];
    private final long[] slotEvents = new long[SLOTS];
    private final Map<Integer, Long> events = new ConcurrentHashMap<>();
    private final long began = System.nanoTime();
    private long intervalBegan = began;
    private double intervalCpu;

    /// Probed calls so far.
    ///
    /// @param hits all of them
    /// @param recorded those that were recorded; one whose return is not counts half
    /// @param counted those that were only counted
    record Hits(long hits, double recorded, long counted) {
        static final Hits NO = new Hits(0, 0, 0);

        /// The sum of these and those of a function.
        ///
        /// @param counters of the kernel
        /// @param returns whether its return is probed too
        Hits plus(long[] counters, boolean returns) {
            long skipped = counters[FunctionCounts.FILTERED] + counters[FunctionCounts.SAMPLED_OUT];
            long taken = counters[FunctionCounts.HITS] - skipped;
            return new Hits(
                    hits + counters[FunctionCounts.HITS], recorded + (returns ? taken : taken / 2.0), counted + skipped);
        }
    }

    Overhead(CallCost cost, Schema schema, Texts texts) {
        this.cost = cost;
        this.pid = schema.index("pid");
        int[] kinds = Probes.all().stream()
                .filter(Probe::isOfFunctions)
                .mapToInt(probe -> texts.id(probe.kind()))
                .toArray();
        this.isCall = new boolean[Arrays.stream(kinds).max().orElse(0) + 1];
        Arrays.stream(kinds).forEach(id -> isCall[id] = true);
    }

    /// Counts the calls of each process among these rows.
    void add(Batch batch) {
        for (KindRows kind : batch.kinds()) {
            if (kind.kind() >= 0 && kind.kind() < isCall.length && isCall[kind.kind()] && kind.has(pid)) {
                count(kind);
            }
        }
        for (int slot = 0; slot < SLOTS; slot++) {
            flush(slot);
        }
        if (events.size() > MOST_PROCESSES) {
            List<Integer> rare = events.entrySet().stream()
                    .sorted(Map.Entry.comparingByValue())
                    .limit(MOST_PROCESSES / 2)
                    .map(Map.Entry::getKey)
                    .toList();
            events.keySet().removeAll(rare);
        }
    }

    private void count(KindRows calls) {
        long[] pids = calls.values(pid);
        for (int row = 0; row < calls.rows(); row++) {
            if (calls.isPresent(pid, row)) {
                count((int) pids[row]);
            }
        }
    }

    private void count(int process) {
        int slot = process & (SLOTS - 1);
        if (slotPids[slot] != process) {
            flush(slot);
            slotPids[slot] = process;
        }
        slotEvents[slot]++;
    }

    private void flush(int slot) {
        if (slotEvents[slot] > 0) {
            events.merge(slotPids[slot], slotEvents[slot], Long::sum);
            slotEvents[slot] = 0;
        }
    }

    CallCost cost() {
        return cost;
    }

    private double cpuNanos(Hits hits) {
        return hits.recorded() * cost.recordedNanos() + hits.counted() * cost.countedNanos();
    }

    /// The share of one CPU that all probes took since the last call of this.
    double shareSinceLast(Hits hits) {
        long now = System.nanoTime();
        double cpu = cpuNanos(hits);
        double share = (cpu - intervalCpu) / Math.max(1, now - intervalBegan);
        intervalCpu = cpu;
        intervalBegan = now;
        return share;
    }

    /// The share of one CPU that all probes took since the recording began.
    double share(Hits hits) {
        return cpuNanos(hits) / Math.max(1, System.nanoTime() - began);
    }

    /// The footer's `zernel.overhead`.
    Map<String, Object> describe(Hits hits) {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("cost_ns_per_hit", known(rounded(cost.recordedNanos(), 10)));
        value.put("cost_ns_per_counted_hit", known(rounded(cost.countedNanos(), 10)));
        value.put("method", cost.method());
        value.put("hits", hits.hits());
        value.put("counted_hits", hits.counted());
        value.put("cpu_ns_total", known(Math.round(cpuNanos(hits))));
        value.put("share", known(rounded(share(hits), 1e6)));
        value.put("processes", processes());
        return value;
    }

    private List<Map<String, Object>> processes() {
        double length = Math.max(1, System.nanoTime() - began);
        List<Map<String, Object>> rows = new ArrayList<>();
        events.entrySet().stream()
                .sorted(Map.Entry.<Integer, Long>comparingByValue().reversed())
                .limit(MOST_DESCRIBED)
                .forEach(process -> {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("pid", process.getKey());
                    row.put("events", process.getValue());
                    row.put("share", known(rounded(process.getValue() * cost.recordedNanos() / length, 1e6)));
                    rows.add(row);
                });
        return rows;
    }

    private @Nullable Object known(Number number) {
        return cost.isKnown() ? number : null;
    }

    private static double rounded(double value, double fractions) {
        return Math.round(value * fractions) / fractions;
    }
}
