package io.dyber.zernel.record.simulate.machine;

/// A CUDA stream: what is enqueued runs one after the other, and at most [#QUEUE] wait.
public final class GpuStream {
    /// Launches that the driver takes before it makes the next one wait.
    public static final int QUEUE = 1024;

    private final long[] done = new long[QUEUE];
    private final BusyTime busy;
    private long enqueued;
    private long freeNanos;

    public GpuStream(BusyTime busy) {
        this.busy = busy;
    }

    /// When the queue has room for one more, `now` or later.
    public long room(long now) {
        return enqueued < QUEUE ? now : Math.max(now, done[(int) (enqueued % QUEUE)]);
    }

    /// Runs a kernel that is ready at a time; returns when it will be done.
    public long enqueue(long readyNanos, long durNanos) {
        busy.add(Math.max(readyNanos, freeNanos), copy(readyNanos, durNanos));
        return freeNanos;
    }

    /// Copies, which is no kernel: the driver's utilization does not count it.
    public long copy(long readyNanos, long durNanos) {
        freeNanos = Math.max(readyNanos, freeNanos) + durNanos;
        done[(int) (enqueued++ % QUEUE)] = freeNanos;
        return freeNanos;
    }

    /// Lets what comes wait for an event of another stream.
    public void waitFor(long nanos) {
        freeNanos = Math.max(freeNanos, nanos);
    }

    /// When all that is enqueued will be done.
    public long freeNanos() {
        return freeNanos;
    }
}
