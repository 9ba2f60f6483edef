package io.dyber.zernel.record.nvml;

/// One value of a device or of a process on it.
///
/// @param nanos when, on the clock given to the sampler
/// @param pid of the process, or [#DEVICE] for the device as a whole
/// @param unit empty for a plain number
/// @param instance id of the MIG instance of the device that it is of, empty for the whole device
public record GpuValue(long nanos, int device, int pid, String name, long value, String unit, String instance) {
    static final int DEVICE = 0;

    GpuValue(long nanos, int device, int pid, String name, long value, String unit) {
        this(nanos, device, pid, name, value, unit, "");
    }

    /// Whether this is a process's.
    public boolean ofProcess() {
        return pid != DEVICE;
    }
}
