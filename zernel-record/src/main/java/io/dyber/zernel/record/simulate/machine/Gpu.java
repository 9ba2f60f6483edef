package io.dyber.zernel.record.simulate.machine;

/// The GPU of one rank: the stream of the computation, that of the collectives, and its memory.
public final class Gpu {
    private final int device;
    private final BusyTime computing;
    private final BusyTime communicating;
    private final GpuStream compute;
    private final GpuStream collectives;

    public Gpu(int device) {
        this(device, true);
    }

    /// The GPU of a rank.
    ///
    /// @param sampled whether [#busy] will be asked
    public Gpu(int device, boolean sampled) {
        this.device = device;
        this.computing = new BusyTime(sampled);
        this.communicating = new BusyTime(sampled);
        this.compute = new GpuStream(computing);
        this.collectives = new GpuStream(communicating);
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
