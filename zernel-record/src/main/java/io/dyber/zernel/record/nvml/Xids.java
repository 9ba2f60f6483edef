package io.dyber.zernel.record.nvml;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// The critical errors (XID) that the driver reports for its devices, as they come.
final class Xids {
    private static final long XID_CRITICAL_ERROR = 8;
    private static final int AT_ONCE = 0;
    private static final int MOST = 64;

    /// `struct nvmlEventData_t { nvmlDevice_t device; unsigned long long eventType, eventData;
    /// unsigned gpuInstanceId, computeInstanceId; }`
    private static final int EVENT_SIZE = 32;

    private final Nvml nvml;
    private final MemorySegment event;
    private final MemorySegment set;
    private final int created;

    /// `nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)`
    Xids(Nvml nvml) {
        this.nvml = nvml;
        this.event = nvml.arena().allocate(EVENT_SIZE, 8);
        MethodHandle create = nvml.function(List.of("nvmlEventSetCreate"), ADDRESS);
        try {
            MemorySegment handle = nvml.arena().allocate(ADDRESS);
            this.created = (int) create.invokeExact(handle);
            this.set = handle.get(ADDRESS, 0);
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// Asks for the errors of a device.
    ///
    /// `nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes, nvmlEventSet_t set)`
    ///
    /// @return the return code
    int watch(MemorySegment device) {
        if (created != NvmlCode.SUCCESS) {
            return created;
        }
        MethodHandle register = nvml.function(List.of("nvmlDeviceRegisterEvents"), ADDRESS, JAVA_LONG, ADDRESS);
        try {
            return (int) register.invokeExact(device, XID_CRITICAL_ERROR, set);
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// Takes one error at a time.
    @FunctionalInterface
    interface Taker {
        /// Called for each error.
        ///
        /// @param device address of the handle
        void take(long device, long xid);
    }

    /// Hands on what has been reported since the last call, without waiting.
    ///
    /// `nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutms)`
    void poll(Taker taker) {
        MethodHandle await = nvml.function(List.of("nvmlEventSetWait_v2", "nvmlEventSetWait"), ADDRESS, ADDRESS, JAVA_INT);
        try {
            for (int i = 0; i < MOST && created == NvmlCode.SUCCESS; i++) {
                if ((int) await.invokeExact(set, event, AT_ONCE) != NvmlCode.SUCCESS) {
                    return;
                }
                if (event.get(JAVA_LONG, 8) == XID_CRITICAL_ERROR) {
                    taker.take(event.get(ADDRESS, 0).address(), event.get(JAVA_LONG, 16));
                }
            }
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// `nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)`
    void close() {
        if (created == NvmlCode.SUCCESS) {
            MethodHandle free = nvml.function(List.of("nvmlEventSetFree"), ADDRESS);
            try {
                int _ = (int) free.invokeExact(set);
            } catch (Throwable e) {
                throw Nvml.unexpected(e);
            }
        }
    }
}
