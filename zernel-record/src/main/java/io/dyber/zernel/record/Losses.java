package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/// Watches the kernel's loss counters and writes a `lost` event for each kind and interval in which they grew.
final class Losses {
    private final KernelSide kernel;
    private final EventPump pump;
    private final Schema schema;
    private final Clock clock;
    private final Texts texts;
    private final Map<Integer, Long> seen = new HashMap<>();
    private final Map<String, Long> byKind = new LinkedHashMap<>();
    private long since = Clock.monotonicNanos();

    Losses(
            KernelSide kernel,
            EventPump pump,
            Schema schema,
            Clock clock,
            Texts texts) {
        this.kernel = kernel;
        this.pump = pump;
        this.schema = schema;
        this.clock = clock;
        this.texts = texts;
    }

    /// Compares the counters with those of the last call.
    void note() {
        long now = Clock.monotonicNanos();
        Map<String, Long> grown = new LinkedHashMap<>();
        for (Map.Entry<Integer, KernelSide.Named> function : kernel.names().entrySet()) {
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
        long[] row = {
            schema.index("name"), texts.id(kind),
            schema.index("ts_ns"), start + clock.offsetNanos(),
            schema.index("dur_ns"), end - start,
            schema.index("count"), count
        };
        pump.later(decoder -> decoder.add("lost", row));
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
}
