package io.dyber.zernel.record.nvml;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/// The counters of a device, or of one MIG instance of it, while they are read again and again.
///
/// Each reading gives the means of the interval since the one before, so two samples take turns.
final class GpmCounters {
    /// Between two readings: 200 ms, as rounds come that now and then are early. The driver needs more than 100 ms.
    static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(190);

    private final Gpm gpm;
    private final MemorySegment device;
    private final OptionalInt instance;
    private final List<GpmMetric> asked = new ArrayList<>(GpmMetric.ALL);
    private MemorySegment before = MemorySegment.NULL;
    private MemorySegment after = MemorySegment.NULL;
    private boolean hasBefore;

    /// @param instance id of the MIG instance; empty for the whole device
    GpmCounters(Gpm gpm, MemorySegment device, OptionalInt instance) {
        this.gpm = gpm;
        this.device = device;
        this.instance = instance;
    }

    /// Id of the MIG instance, empty for the whole device.
    String instance() {
        return instance.isPresent() ? Integer.toString(instance.getAsInt()) : "";
    }

    /// Whether the whole device's value of this name comes from here.
    boolean gives(String metric) {
        return instance.isEmpty() && asked.stream().anyMatch(known -> known.name().equals(metric));
    }

    /// Hands on the means since the last reading; nothing in the first one. A metric that the driver will never give is
    /// not asked for again.
    ///
    /// @return the return code of the reading as a whole
    int read(Gpm.Taker taker) {
        before = before.address() == 0 ? gpm.allocate() : before;
        after = after.address() == 0 ? gpm.allocate() : after;
        if (before.address() == 0 || after.address() == 0) {
            return NvmlCode.MEMORY;
        }
        int code = instance.isPresent()
                ? gpm.sample(device, instance.getAsInt(), after)
                : gpm.sample(device, after);
        boolean isTaken = code == NvmlCode.SUCCESS;
        if (isTaken && hasBefore) {
            List<GpmMetric> refused = new ArrayList<>();
            code = gpm.metrics(before, after, asked, (metric, its, value) -> {
                if (NvmlCode.isFinal(its)) {
                    refused.add(metric);
                }
                taker.take(metric, its, value);
            });
            asked.removeAll(refused);
        }
        MemorySegment older = before;
        before = after;
        after = older;
        hasBefore = isTaken;
        return code;
    }

    /// Frees the samples.
    void close() {
        for (MemorySegment sample : List.of(before, after)) {
            if (sample.address() != 0) {
                gpm.free(sample);
            }
        }
        before = MemorySegment.NULL;
        after = MemorySegment.NULL;
        hasBefore = false;
    }
}
