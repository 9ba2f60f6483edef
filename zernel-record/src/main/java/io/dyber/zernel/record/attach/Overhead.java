package io.dyber.zernel.record.attach;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// What the probes on functions cost the recorded processes: their calls times the measured [CallCost]. And what one of those
/// on system calls costs, the [SystemCallCost].
///
/// The drain thread [#add]s, the recording's thread asks.
public final class Overhead {
    private static final int SLOTS = 64;

    /// Of so many processes, the half with fewer events is forgotten.
    private static final int MOST_PROCESSES = 20_000;

    /// Processes in the footer.
    private static final int MOST_DESCRIBED = 1000;

    private final CallCost cost;
    private final SystemCallCost systemCallCost;
    private final int pid;
    private final boolean[] isCall;
    private final int[] slotPids = new int[SLOTS];
    private final long[] slotEvents = new long[SLOTS];
    private final Map<Integer, Long> events = new ConcurrentHashMap<>();
    private final long began = System.nanoTime();
    private final Optional<Duration> beganCpu = ownCpu();
    private long intervalBegan = began;
    private double intervalCpu;

    /// Probed calls so far.
    ///
    /// @param hits all of them
    /// @param left those of functions that are probed where they are left
    /// @param counted those that were only counted
    /// @param recordedNanos what the others cost; one whose end is not recorded costs half
    /// @param countedNanos what those cost that were only counted
    record Hits(long hits, long left, long counted, double recordedNanos, double countedNanos) {
        static final Hits NO = new Hits(0, 0, 0, 0, 0);

        /// The sum of these and those of a function.
        ///
        /// @param counters of the kernel
        /// @param endsEvery of one in so many calls the end is recorded too
        /// @param traps debug traps of each call
        Hits plus(long[] counters, Site.End end, int endsEvery, int traps, CallCost cost) {
            double trap = traps * cost.trap();
            CallCost.Price price = end == Site.End.EXITS ? cost.left() : cost.returned();
            double ends = end == Site.End.NOT_SEEN ? 0 : 1.0 / endsEvery;
            long skipped = counters[FunctionCounts.FILTERED] + counters[FunctionCounts.SAMPLED_OUT];
            double taken = counters[FunctionCounts.HITS] - skipped;
            return new Hits(
                    hits + counters[FunctionCounts.HITS],
                    left + (end == Site.End.EXITS ? counters[FunctionCounts.HITS] : 0),
                    counted + skipped,
                    recordedNanos + taken * ((0.5 + ends / 2) * price.recorded() + trap),
                    countedNanos + skipped * (price.counted() + trap));
        }

        private double nanos() {
            return recordedNanos + countedNanos;
        }

        /// What one that was recorded costs in the mean.
        private double nanosPerRecorded() {
            return recordedNanos / Math.max(1, hits - counted);
        }
    }

    /// Watched system calls so far.
    ///
    /// @param hits all of them
    /// @param skipped those that did not become events
    public record SystemCallHits(long hits, long skipped) {
        static final SystemCallHits NO = new SystemCallHits(0, 0);
    }

    public Overhead(CallCost cost, SystemCallCost systemCallCost, Schema schema, StringDictionary texts) {
        this.cost = cost;
        this.systemCallCost = systemCallCost;
        this.pid = schema.index("pid");
        int[] kinds = Probes.all().stream()
                .filter(Probe::isOfFunctions)
                .mapToInt(probe -> texts.id(probe.kind()))
                .toArray();
        this.isCall = new boolean[Arrays.stream(kinds).max().orElse(0) + 1];
        Arrays.stream(kinds).forEach(id -> isCall[id] = true);
    }

    /// Counts the calls of each process among these rows.
    public void add(Batch batch) {
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

    public CallCost cost() {
        return cost;
    }

    /// The share of one CPU that all probes took since the last call of this.
    public double shareSinceLast(Hits hits) {
        long now = System.nanoTime();
        double cpu = hits.nanos();
        double share = (cpu - intervalCpu) / Math.max(1, now - intervalBegan);
        intervalCpu = cpu;
        intervalBegan = now;
        return share;
    }

    /// The share of one CPU that all probes took since the recording began.
    double share(Hits hits) {
        return hits.nanos() / Math.max(1, System.nanoTime() - began);
    }

    /// The footer's `zernel.overhead`.
    public Footer.Overhead describe(Hits hits, SystemCallHits systemCalls) {
        return new Footer.Overhead(
                known(rounded(cost.returned().recorded(), 10)),
                known(rounded(cost.returned().counted(), 10)),
                known(rounded(cost.left().recorded(), 10)),
                known(rounded(cost.left().counted(), 10)),
                known(rounded(cost.trap(), 10)),
                cost.method(),
                hits.hits(),
                hits.left(),
                hits.counted(),
                known(Math.round(hits.nanos())),
                known(rounded(share(hits), 1e6)),
                beganCpu.flatMap(before -> ownCpu().map(now -> now.minus(before).toNanos())).orElse(null),
                processes(hits.nanosPerRecorded()),
                describe(systemCalls));
    }

    /// CPU time of this process; empty where the system does not tell.
    private static Optional<Duration> ownCpu() {
        return ProcessHandle.current().info().totalCpuDuration();
    }

    private Footer.SystemCallOverhead describe(SystemCallHits systemCalls) {
        return new Footer.SystemCallOverhead(
                knownOfSystemCalls(systemCallCost.recorded()),
                knownOfSystemCalls(systemCallCost.skipped()),
                knownOfSystemCalls(systemCallCost.other()),
                systemCallCost.method(),
                systemCalls.hits(),
                systemCalls.skipped());
    }

    private @Nullable Double knownOfSystemCalls(double nanos) {
        return systemCallCost.isKnown() ? rounded(nanos, 10) : null;
    }

    private List<Footer.ProcessOverhead> processes(double nanosPerEvent) {
        double length = Math.max(1, System.nanoTime() - began);
        return events.entrySet().stream()
                .sorted(Map.Entry.<Integer, Long>comparingByValue().reversed())
                .limit(MOST_DESCRIBED)
                .map(process -> new Footer.ProcessOverhead(
                        process.getKey(),
                        process.getValue(),
                        known(rounded(process.getValue() * nanosPerEvent / length, 1e6))))
                .toList();
    }

    private <N extends Number> @Nullable N known(N number) {
        return cost.isKnown() ? number : null;
    }

    private static double rounded(double value, double fractions) {
        return Math.round(value * fractions) / fractions;
    }
}
