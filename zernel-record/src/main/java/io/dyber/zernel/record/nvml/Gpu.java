package io.dyber.zernel.record.nvml;

import io.dyber.zernel.record.nvml.GpuFacts.Gap;
import io.dyber.zernel.record.nvml.ProcessLists.Load;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// One device while it is sampled. Remembers what the device does not answer, and does not ask for it again.
final class Gpu {
    private static final String PERCENT = "percent";
    private static final List<String> LOADS = List.of("sm", "mem", "enc", "dec");
    private static final String MEMORY = "memory_used";

    private final Nvml nvml;
    private final ProcessLists processes;
    private final int index;
    private final MemorySegment handle;
    private final String name;
    private final String uuid;
    private final long memoryTotal;
    private final Map<String, Trouble> troubles = new LinkedHashMap<>();
    private long loadsSeen;
    private long lostNanos;

    /// @param times in vain
    private record Trouble(String name, boolean ofProcess, int code, long times) {
        Trouble again(int newCode) {
            return new Trouble(name, ofProcess, newCode, times + 1);
        }
    }

    Gpu(Nvml nvml, ProcessLists processes, int index, MemorySegment handle) {
        this.nvml = nvml;
        this.processes = processes;
        this.index = index;
        this.handle = handle;
        this.name = nvml.text("nvmlDeviceGetName", handle);
        this.uuid = nvml.text("nvmlDeviceGetUUID", handle);
        Metric total = Metric.MEMORY_TOTAL;
        this.memoryTotal = nvml.ask(total.question(), handle) == NvmlCode.SUCCESS
                ? nvml.answered(total.offset(), total.width())
                : 0;
    }

    /// All devices that answer.
    static List<Gpu> all(Nvml nvml) throws NvmlException {
        ProcessLists processes = new ProcessLists(nvml);
        List<MemorySegment> handles = nvml.devices();
        List<Gpu> gpus = new ArrayList<>();
        for (int i = 0; i < handles.size(); i++) {
            if (handles.get(i).address() != 0) {
                gpus.add(new Gpu(nvml, processes, i, handles.get(i)));
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
            if (isAnswered(metric.name(), false)) {
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
            lostNanos = now;
        } else if (code != NvmlCode.SUCCESS) {
            troubles.merge(
                    key(value, ofProcess), new Trouble(value, ofProcess, code, 1), (before, _) -> before.again(code));
        }
    }

    private static String key(String value, boolean ofProcess) {
        return (ofProcess ? "process " : "device ") + value;
    }

    GpuFacts facts() {
        List<Gap> gaps = troubles.values().stream()
                .map(trouble -> new Gap(
                        trouble.name(), trouble.ofProcess(), NvmlCode.text(trouble.code()), trouble.times()))
                .toList();
        return new GpuFacts(index, name, uuid, memoryTotal, gaps, lostNanos);
    }
}
