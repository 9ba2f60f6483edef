package io.dyber.zernel.record.session;

import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.FunctionCounts;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.CallCounts;
import io.dyber.zernel.record.rows.EventWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Counts what was lost. Writes a `lost` event for each kind and interval in which the kernel's loss counters grew, and
/// compares in the end what the kernel has sent with what has become of it, function by function.
final class LossAccounting {
    private final BpfPrograms kernel;
    private final EventWriter writer;
    private final Map<Integer, Long> seen = new HashMap<>();
    private final Map<String, Long> byKind = new LinkedHashMap<>();
    private long since = Clock.monotonicNanos();

    LossAccounting(BpfPrograms kernel, EventWriter writer) {
        this.kernel = kernel;
        this.writer = writer;
    }

    /// Compares the counters with those of the last call.
    void note() {
        long now = Clock.monotonicNanos();
        Map<String, Long> grown = new LinkedHashMap<>();
        for (Map.Entry<Integer, BpfPrograms.Named> function : kernel.names().entrySet()) {
            int id = function.getKey();
            long lost = FunctionCounts.lost(kernel.counters(id), function.getValue().sendsEnter());
            long more = lost - seen.getOrDefault(id, 0L);
            if (more > 0) {
                seen.put(id, lost);
                grown.merge(function.getValue().kind(), more, Long::sum);
            }
        }
        long start = since;
        grown.forEach((kind, count) -> {
            byKind.merge(kind, count, Long::sum);
            write(kind, count, start, now);
        });
        since = now;
    }

    private void write(String kind, long count, long start, long end) {
        writer.event("lost", kind, writer.epochNanos(start))
                .with("dur_ns", end - start)
                .with("count", count)
                .write();
    }

    /// Events that are there and whose end was lost.
    long ends() {
        return kernel.names().entrySet().stream()
                .mapToLong(function -> FunctionCounts.endsLost(
                        kernel.counters(function.getKey()), function.getValue().sendsEnter()))
                .sum();
    }

    /// Lost events by kind.
    Map<String, Long> byKind() {
        return byKind;
    }

    long total() {
        return byKind.values().stream().mapToLong(Long::longValue).sum();
    }

    /// The functions whose calls are not all accounted for, with the numbers. Nothing may be sending or be left in the
    /// rings.
    List<String> open(CallCounts counts) {
        List<String> open = new ArrayList<>();
        kernel.names().forEach((id, function) -> {
            long[] counters = kernel.counters(id);
            long sent = FunctionCounts.sent(counters, function.sendsEnter());
            long taken = taken(id, function, counts);
            if (sent != taken) {
                open.add("calls of '" + function.name() + "' do not add up: " + counters[FunctionCounts.HITS]
                        + " entered, " + sent + " sent, " + taken + " taken");
            }
        });
        return open;
    }

    /// Events that the kernel sent and of which nothing has become: the recorder had ended.
    long dropped(CallCounts counts) {
        return kernel.names().entrySet().stream()
                .mapToLong(function -> FunctionCounts.sent(
                                kernel.counters(function.getKey()), function.getValue().sendsEnter())
                        - taken(function.getKey(), function.getValue(), counts))
                .filter(dropped -> dropped > 0)
                .sum();
    }

    private static long taken(int id, BpfPrograms.Named function, CallCounts counts) {
        return counts.events(id) + counts.leftOut(id) + counts.covered(id)
                + (function.sendsEnter() ? 0 : counts.returnedTwice(id));
    }
}
