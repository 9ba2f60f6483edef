package io.dyber.zernel.record.nvml;

/// One value of a device or of a process on it.
///
/// @param nanos when, on the clock given to the sampler
/// @param pid of the process, or [#DEVICE] for the device as a whole
/// @param unit empty for a plain number
public record GpuValue(long nanos, int device, int pid, String name, long value, String unit) {
    static final int DEVICE = 0;

    /// Whether this is a process's.
    public boolean ofProcess() {
        return pid != DEVICE;
    }
}
