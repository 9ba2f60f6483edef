package io.dyber.zernel.record.simulate.machine;

/// The GPU of one rank: the stream of the computation, that of the collectives, and its memory.
public final class Gpu {
    private final int device;
    private final BusyTime computing = new BusyTime();
    private final BusyTime communicating = new BusyTime();
    private final GpuStream compute = new GpuStream(computing);
    private final GpuStream collectives = new GpuStream(communicating);

    public Gpu(int device) {
        this.device = device;
    }

    public int device() {
        return device;
    }

    public GpuStream compute() {
        return compute;
    }

    public GpuStream collectives() {
        return collectives;
    }

    /// Nanoseconds of each period in which a kernel ran; one of a collective also runs while it waits for other ranks.
    public long[] busy(long from, long period, int periods) {
        return computing.together(communicating, from, period, periods);
    }
}
