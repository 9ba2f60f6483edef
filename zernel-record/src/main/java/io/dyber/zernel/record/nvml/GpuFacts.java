package io.dyber.zernel.record.nvml;

import java.util.List;

/// What is known about a device.
///
/// @param index as NVML counts, which is not as CUDA counts where `CUDA_VISIBLE_DEVICES` is set
/// @param pci where it is on the PCI bus, `00000000:3B:00.0`; empty when the driver does not say
/// @param memoryTotal in bytes, 0 when the driver does not say
/// @param pcieGeneration of the link to the host at its best, since one that idles may be slower; 0 when the driver does
/// not say
/// @param pcieWidth lanes that it uses, 0 when the driver does not say
/// @param gaps values that it does not have, or not always
/// @param lostNanos when it stopped answering, on the clock given to the sampler; 0 if it did not
public record GpuFacts(
        int index,
        String name,
        String uuid,
        String pci,
        long memoryTotal,
        int pcieGeneration,
        int pcieWidth,
        List<Gap> gaps,
        long lostNanos) {
    /// Name of the [Gap] of a device without any hardware counters.
    public static final String COUNTERS = "gpm";

    /// A value that could not be read.
    ///
    /// @param ofProcess whether it is one of a process
    /// @param times how often it was asked for in vain; a value that is not supported is not asked for again
    public record Gap(String name, boolean ofProcess, String why, long times) {}

    public GpuFacts {
        gaps = List.copyOf(gaps);
    }
}
