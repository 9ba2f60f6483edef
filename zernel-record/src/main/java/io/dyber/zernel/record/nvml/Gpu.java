package io.dyber.zernel.record.nvml;

import io.dyber.zernel.record.nvml.GpuFacts.Gap;
import io.dyber.zernel.record.nvml.ProcessLists.Load;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// One device while it is sampled. Remembers what the device does not answer, and does not ask for it again.
final class Gpu {
    private static final String PERCENT = "percent";
    private static final List<String> LOADS = List.of("sm", "mem", "enc", "dec");
    private static final String MEMORY = "memory_used";
    private static final String BUSY = "busy";
    /// From the time of asking, as much as a sample's may be off that is not of another time of day.
    private static final long BUSY_OFF_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Nvml nvml;
    private final ProcessLists processes;
    private final int index;
    private final MemorySegment handle;
    private final String name;
    private final String uuid;
    private final String pci;
    private final long memoryTotal;
    private final int pcieGeneration;
    private final int pcieWidth;
    private final List<GpmCounters> counters = new ArrayList<>();
    private final BusySamples busy;
    private final Consumer<String> notices;
    private final Map<String, Trouble> troubles = new LinkedHashMap<>();
    private long loadsSeen;
    private long busyNanos;
    private long countedNanos = System.nanoTime() - GpmCounters.LEAST_NANOS;
    private long lostNanos;

    /// @param times in vain
    private record Trouble(String name, boolean ofProcess, int code, long times) {
        Trouble again(int newCode) {
            return new Trouble(name, ofProcess, newCode, times + 1);
        }
    }

    private Gpu(
            Nvml nvml, ProcessLists processes, Gpm gpm, int index, MemorySegment handle, Consumer<String> notices) {
        this.nvml = nvml;
        this.processes = processes;
        this.index = index;
        this.handle = handle;
        this.notices = notices;
        this.name = nvml.text("nvmlDeviceGetName", handle);
        this.uuid = nvml.text("nvmlDeviceGetUUID", handle);
        this.pci = nvml.pci(handle);
        this.memoryTotal = fact(nvml, handle, Metric.MEMORY_TOTAL);
        this.pcieGeneration = (int) fact(nvml, handle, Metric.PCIE_GENERATION);
        this.pcieWidth = (int) fact(nvml, handle, Metric.PCIE_WIDTH);
        this.busy = new BusySamples(nvml, handle);
        int code = gpm.support(handle);
        note(GpuFacts.COUNTERS, false, code, 0);
        if (code == NvmlCode.SUCCESS) {
            counters.add(new GpmCounters(gpm, handle, OptionalInt.empty()));
            MigInstances.of(nvml, handle)
                    .forEach(id -> counters.add(new GpmCounters(gpm, handle, OptionalInt.of(id))));
        }
    }

    /// What does not change, 0 when the driver does not say.
    private static long fact(Nvml nvml, MemorySegment handle, Metric metric) {
        return nvml.ask(metric.question(), handle) == NvmlCode.SUCCESS
                ? nvml.answered(metric.offset(), metric.width())
                : 0;
    }

    /// All devices that answer.
    ///
    /// @param notices gets one line about each thing that goes wrong
    static List<Gpu> all(Nvml nvml, Consumer<String> notices) throws NvmlException {
        Gpm gpm = new Gpm(nvml);
        ProcessLists processes = new ProcessLists(nvml);
        List<MemorySegment> handles = nvml.devices();
        List<Gpu> gpus = new ArrayList<>();
        for (int i = 0; i < handles.size(); i++) {
            if (handles.get(i).address() != 0) {
                gpus.add(new Gpu(nvml, processes, gpm, i, handles.get(i), notices));
            }
        }
        if (gpus.isEmpty()) {
            throw new NvmlException("the NVIDIA driver shows no GPU");
        }
        return gpus;
    }

    int index() {
        return index;
    }

    long address() {
        return handle.address();
    }

    boolean isLost() {
        return lostNanos != 0;
    }

    /// Asks for the critical errors of this device.
    void watch(Xids xids, long now) {
        note("xid", false, xids.watch(handle), now);
    }

    /// Reads every value of the device.
    ///
    /// @param now the time the values get
    void sample(long now, Consumer<GpuValue> taker) {
        Question asked = Question.of("");
        int code = NvmlCode.SUCCESS;
        for (Metric metric : Metric.ALL) {
            if (isLost()) {
                return;
            }
            if (isAnswered(metric.name(), false) && counters.stream().noneMatch(own -> own.gives(metric.name()))) {
                if (!metric.question().equals(asked)) {
                    asked = metric.question();
                    code = nvml.ask(asked, handle);
                }
                note(metric.name(), false, code, now);
                if (code == NvmlCode.SUCCESS) {
                    long value = nvml.answered(metric.offset(), metric.width()) * metric.scale();
                    taker.accept(new GpuValue(now, index, GpuValue.DEVICE, metric.name(), value, metric.unit()));
                }
            }
        }
    }

    /// From now on, only how busy the device is after this call is told.
    void forgetBusy(long now, long nowMicros) {
        if (!isLost()) {
            note(BUSY, false, busy.read(nowMicros, (_, _) -> {}), now);
            busyNanos = now;
        }
    }

    /// Reads how busy the device was since the last time.
    ///
    /// @param now the time on the clock of the values
    /// @param nowMicros the same moment as time of day
    void sampleBusy(long now, long nowMicros, Consumer<GpuValue> taker) {
        if (!isLost() && isAnswered(BUSY, false)) {
            int code = busy.read(nowMicros, (micros, percent) -> {
                long nanos = now - TimeUnit.MICROSECONDS.toNanos(nowMicros - micros);
                // Some come while the driver is asked: after now.
                if (nanos > busyNanos - BUSY_OFF_NANOS && nanos < now + BUSY_OFF_NANOS) {
                    taker.accept(new GpuValue(nanos, index, GpuValue.DEVICE, BUSY, percent, PERCENT));
                } else {
                    // Somebody has set the time of day since.
                    note(BUSY, false, NvmlCode.IMPOSSIBLE, now);
                }
            });
            busyNanos = now;
            note(BUSY, false, code, now);
        }
    }

    /// Reads the hardware counters, where the last time is long enough ago.
    ///
    /// @param now the time the values get
    void sampleCounters(long now, Consumer<GpuValue> taker) {
        if (System.nanoTime() - countedNanos < GpmCounters.LEAST_NANOS) {
            return;
        }
        countedNanos = System.nanoTime();
        for (GpmCounters own : List.copyOf(counters)) {
            if (!isLost()) {
                int code = own.read((metric, answered, answer) -> {
                    long value = metric.value(answer);
                    if (answered != NvmlCode.SUCCESS || value == GpmMetric.IMPOSSIBLE) {
                        refuse(metric, answered == NvmlCode.SUCCESS ? NvmlCode.IMPOSSIBLE : answered, now);
                    } else {
                        taker.accept(new GpuValue(
                                now, index, GpuValue.DEVICE, metric.name(), value, metric.unit(), own.instance()));
                    }
                });
                note(GpuFacts.COUNTERS, false, code, now);
                if (NvmlCode.isFinal(code)) {
                    own.close();
                    counters.remove(own);
                }
            }
        }
    }

    /// Another function may still give what a counter does not.
    private void refuse(GpmMetric metric, int code, long now) {
        if (Metric.ALL.stream().anyMatch(known -> known.name().equals(metric.name()))) {
            return;
        }
        if (code != NvmlCode.NOT_SUPPORTED && !troubles.containsKey(key(metric.name(), false))) {
            notices.accept("GPU " + index + " gave no " + metric.name() + ": " + NvmlCode.text(code));
        }
        note(metric.name(), false, code, now);
    }

    /// From now on, only what processes do after this call is told.
    void forgetLoads() {
        Map<Integer, Load> loads = new HashMap<>();
        int _ = processes.loads(handle, 0, loads);
        loads.values().forEach(load -> loadsSeen = Math.max(loadsSeen, load.timestamp()));
    }

    /// Reads what each process does to the device and holds of its memory.
    void sampleProcesses(long now, Consumer<GpuValue> taker) {
        if (!isLost() && isAnswered(LOADS.getFirst(), true)) {
            Map<Integer, Load> loads = new HashMap<>();
            int code = processes.loads(handle, loadsSeen, loads);
            LOADS.forEach(load -> note(load, true, code == NvmlCode.NOT_FOUND ? NvmlCode.SUCCESS : code, now));
            loads.forEach((pid, load) -> {
                loadsSeen = Math.max(loadsSeen, load.timestamp());
                List<Integer> values = List.of(load.sm(), load.memory(), load.encoder(), load.decoder());
                for (int i = 0; i < LOADS.size(); i++) {
                    taker.accept(new GpuValue(now, index, pid, LOADS.get(i), values.get(i), PERCENT));
                }
            });
        }
        if (!isLost() && isAnswered(MEMORY, true)) {
            Map<Integer, Long> memory = new HashMap<>();
            note(MEMORY, true, processes.memory(handle, memory), now);
            memory.forEach((pid, bytes) -> taker.accept(new GpuValue(now, index, pid, MEMORY, bytes, "bytes")));
        }
    }

    private boolean isAnswered(String value, boolean ofProcess) {
        Trouble trouble = troubles.get(key(value, ofProcess));
        return trouble == null || !NvmlCode.isFinal(trouble.code());
    }

    private void note(String value, boolean ofProcess, int code, long now) {
        if (code == NvmlCode.GPU_IS_LOST) {
            if (!isLost()) {
                notices.accept("GPU " + index + " does not answer any more: " + NvmlCode.text(code));
            }
            lostNanos = now;
        } else if (code != NvmlCode.SUCCESS) {
            troubles.merge(
                    key(value, ofProcess), new Trouble(value, ofProcess, code, 1), (before, _) -> before.again(code));
        }
    }

    private static String key(String value, boolean ofProcess) {
        return (ofProcess ? "process " : "device ") + value;
    }

    void close() {
        counters.forEach(GpmCounters::close);
    }

    GpuFacts facts() {
        List<Gap> gaps = troubles.values().stream()
                .map(trouble -> new Gap(
                        trouble.name(), trouble.ofProcess(), NvmlCode.text(trouble.code()), trouble.times()))
                .toList();
        return new GpuFacts(index, name, uuid, pci, memoryTotal, pcieGeneration, pcieWidth, gaps, lostNanos);
    }
}
