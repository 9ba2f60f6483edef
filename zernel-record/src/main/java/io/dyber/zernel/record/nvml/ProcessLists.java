package io.dyber.zernel.record.nvml;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;

/// The two lists of processes that NVML has for a device: who loaded it, and who holds memory on it.
///
/// Processes come and go between any two calls, so a list that did not fit is asked for again with more room. The
/// answers of a call are valid until the next one.
final class ProcessLists {
    /// What a process did to a device since the last call, in percent.
    record Load(int pid, long timestamp, int sm, int memory, int encoder, int decoder) {}

    /// `struct nvmlProcessUtilizationSample_t { unsigned pid; unsigned long long timeStamp;
    /// unsigned smUtil, memUtil, encUtil, decUtil; }`
    private static final int LOAD_SIZE = 32;

    /// `struct nvmlProcessInfo_v2_t { unsigned pid; unsigned long long usedGpuMemory;
    /// unsigned gpuInstanceId, computeInstanceId; }`, also of `_v3`.
    private static final int INFO_SIZE = 24;

    /// `struct nvmlProcessInfo_v1_t { unsigned pid; unsigned long long usedGpuMemory; }`
    private static final int INFO_V1_SIZE = 16;

    private static final long NOT_AVAILABLE = -1;
    private static final int TRIES = 6;
    private static final int FIRST_ROOM = 64;
    private static final int MOST_ROOM = 1 << 16;

    private final Nvml nvml;
    private final MemorySegment count;
    private int room = FIRST_ROOM;
    private int infoSize = INFO_SIZE;

    ProcessLists(Nvml nvml) {
        this.nvml = nvml;
        this.count = nvml.arena().allocate(JAVA_INT);
    }

    /// Fills memory for `count` entries, which the callee replaces by how many there are.
    @FunctionalInterface
    private interface Call {
        int into(MemorySegment entries) throws Throwable;
    }

    /// The loads newer than `since`, the newest of each process; the driver leaves out idle ones.
    ///
    /// `nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
    /// unsigned int *processSamplesCount, unsigned long long lastSeenTimeStamp)`
    ///
    /// @param since a timestamp of an earlier load, or 0
    /// @return the return code; without loads it may be [NvmlCode#NOT_FOUND]
    int loads(MemorySegment device, long since, Map<Integer, Load> into) {
        MethodHandle function =
                nvml.function(List.of("nvmlDeviceGetProcessUtilization"), ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);
        return list(LOAD_SIZE, entries -> (int) function.invokeExact(device, entries, count, since), entry -> {
            Load load = new Load(
                    entry.get(JAVA_INT, 0),
                    entry.get(JAVA_LONG, 8),
                    entry.get(JAVA_INT, 16),
                    entry.get(JAVA_INT, 20),
                    entry.get(JAVA_INT, 24),
                    entry.get(JAVA_INT, 28));
            if (load.pid() != 0 && Long.compareUnsigned(load.timestamp(), since) > 0) {
                into.merge(load.pid(), load, (a, b) -> a.timestamp() > b.timestamp() ? a : b);
            }
        });
    }

    /// Bytes of each process with a compute context, over all instances of a partitioned GPU; without those that the
    /// driver does not know.
    ///
    /// `nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *infoCount,
    /// nvmlProcessInfo_t *infos)`
    ///
    /// @return the return code
    int memory(MemorySegment device, Map<Integer, Long> into) {
        MethodHandle function = nvml.function(
                List.of("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"),
                ADDRESS,
                ADDRESS,
                ADDRESS);
        int code = infos(function, device, into);
        if (code == NvmlCode.FUNCTION_NOT_FOUND && infoSize == INFO_SIZE) {
            infoSize = INFO_V1_SIZE;
        }
        if (infoSize == INFO_V1_SIZE) {
            MethodHandle first = nvml.function(
                    List.of("nvmlDeviceGetComputeRunningProcesses"), ADDRESS, ADDRESS, ADDRESS);
            return infos(first, device, into);
        }
        return code;
    }

    private int infos(MethodHandle function, MemorySegment device, Map<Integer, Long> into) {
        return list(infoSize, entries -> (int) function.invokeExact(device, count, entries), entry -> {
            long bytes = entry.get(JAVA_LONG, 8);
            if (bytes != NOT_AVAILABLE) {
                into.merge(entry.get(JAVA_INT, 0), bytes, Long::sum);
            }
        });
    }

    @FunctionalInterface
    private interface Taker {
        void take(MemorySegment entry);
    }

    private int list(int size, Call call, Taker taker) {
        int code = NvmlCode.INSUFFICIENT_SIZE;
        for (int i = 0; i < TRIES && code == NvmlCode.INSUFFICIENT_SIZE; i++) {
            try (Arena arena = Arena.ofConfined()) {
                // Twice what is offered: drivers 535.43 to 535.86 wrote longer entries than their header says.
                MemorySegment entries = arena.allocate((long) size * 2 * room, 8);
                count.set(JAVA_INT, 0, room);
                code = call.into(entries);
                int entriesThere = count.get(JAVA_INT, 0);
                if (code == NvmlCode.INSUFFICIENT_SIZE) {
                    room = Math.min(MOST_ROOM, Math.max(2 * room, 2 * entriesThere));
                } else if (code == NvmlCode.SUCCESS) {
                    for (int at = 0; at < Math.min(entriesThere, room); at++) {
                        taker.take(entries.asSlice((long) at * size, size));
                    }
                }
            } catch (Throwable e) {
                throw Nvml.unexpected(e);
            }
        }
        return code;
    }
}
