package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Gpu;
import io.dyber.zernel.record.simulate.machine.GpuStream;
import io.dyber.zernel.record.simulate.machine.Kernel;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;

/// The training program on the CPU. It does one thing at a time, in its main thread or, during a backward pass, in the
/// thread of the autograd engine; `now` is how far it is.
final class Program {
    /// When what waits for a rank that is gone will be done.
    static final long NEVER = Long.MAX_VALUE / 4;

    /// Bytes per nanosecond over PCIe: from pinned memory; from pageable memory, through the driver's buffers.
    private static final double PINNED_RATE = 22;

    private static final double PAGEABLE_RATE = 5;
    /// A pageable copy up to this size is buffered at once.
    private static final long BUFFERED_BYTES = 64 << 10;

    private static final long LAUNCH_NANOS = 4_200;
    private static final long LAUNCH_LATENCY_NANOS = 3_000;
    private static final long SYNC_RETURN_NANOS = 6_000;
    private static final long HOST_BUFFER = 0x7f60_0000_0000L;

    private final Timeline timeline;
    private final Gpu gpu;
    private final boolean onGpu;
    private final Noise noise;
    private Interruptions interruptions;
    private final Noise interrupting;
    private double uninterruptedNanos;
    private Actor thread;
    private long now;
    private boolean stuck;

    Program(
            Timeline timeline,
            Gpu gpu,
            boolean onGpu,
            Noise noise,
            Interruptions interruptions,
            Actor main,
            long startNanos) {
        this.timeline = timeline;
        this.gpu = gpu;
        this.onGpu = onGpu;
        this.noise = noise;
        this.interruptions = interruptions;
        this.interrupting = noise.of(1);
        this.thread = main;
        this.now = startNanos;
    }

    long now() {
        return now;
    }

    /// From now on it loses its CPU otherwise than before.
    void interrupt(Interruptions otherwise) {
        interruptions = otherwise;
    }

    Actor thread() {
        return thread;
    }

    Gpu gpu() {
        return gpu;
    }

    boolean onGpu() {
        return onGpu;
    }

    Timeline timeline() {
        return timeline;
    }

    /// Whether it waits for something that will never happen.
    boolean isStuck() {
        return stuck;
    }

    /// PyTorch's allocator hands out memory.
    void handOut(Allocator.Block block) {
        if (onGpu) {
            torch("torch_alloc", "pytorch:malloc", block).with("stream", 0);
        }
    }

    /// PyTorch's allocator takes memory back, which names no stream.
    void takeBack(Allocator.Block block) {
        if (onGpu) {
            Timeline _ = torch("torch_free", "pytorch:free", block);
        }
    }

    private Timeline torch(String kind, String name, Allocator.Block block) {
        now += 300;
        return timeline.event(kind, name, thread, now, Timeline.NONE)
                .with("addr", block.addr())
                .with("bytes", block.bytes())
                .with("device", gpu.device());
    }

    void cudaMalloc(long addr, long bytes) {
        if (!onGpu) {
            return;
        }
        long start = now;
        now += noise.near(220_000, 0.3);
        memory("gpu_alloc", "cuMemAlloc_v2", addr, bytes, start + 900, now - 500, 1);
        memory("gpu_alloc", "cudaMalloc", addr, bytes, start, now, 0);
    }

    /// Waits for the device first.
    void cudaFree(long addr, long bytes) {
        if (!onGpu) {
            return;
        }
        long start = now;
        now = Math.max(now, gpu.compute().freeNanos()) + noise.near(380_000, 0.3);
        memory("gpu_free", "cuMemFree_v2", addr, bytes, start + 900, now - 500, 1);
        memory("gpu_free", "cudaFree", addr, bytes, start, now, 0);
    }

    private void memory(String kind, String call, long addr, long bytes, long start, long end, long depth) {
        timeline.event(kind, call, thread, start, end - start)
                .with("bytes", bytes)
                .with("addr", addr)
                .with("device", gpu.device())
                .with("status", 0)
                .with("depth", depth);
    }

    void restart(long step) {
        noise.restart(step);
        interrupting.restart(step);
    }

    /// Never goes on.
    void hang() {
        stuck = true;
    }

    void runIn(Actor other) {
        thread = other;
    }

    void waitUntil(long nanos) {
        now = Math.max(now, nanos);
    }

    /// Python, the interpreter's and PyTorch's own work between calls.
    void work(double nanos) {
        long dur = noise.near(nanos, 0.2);
        now += dur;
        uninterruptedNanos += dur;
        if (uninterruptedNanos >= interruptions.everyNanos()) {
            uninterruptedNanos = 0;
            long off = interrupting.around(interruptions.forNanos(), 0.4);
            timeline.offCpu(thread, "preempted", now, now + off, off);
            now += off;
        }
    }

    /// Off the CPU in a system call that is no event.
    void block(String state, long nanos) {
        timeline.offCpu(thread, state, now, now + nanos, 4_000);
        now += nanos;
    }

    void region(String name, long start) {
        timeline.event("region", name, thread, start, now - start);
    }

    /// Dispatches an operator and launches its kernel; without a GPU, runs it.
    ///
    /// @param opNanos CPU time before the launch
    /// @param slowness of the kernel, 1 is usual
    void launch(Kernel kernel, double opNanos, double slowness) {
        work(opNanos);
        if (!onGpu) {
            work(kernel.gpuNanos() * slowness);
            return;
        }
        long start = now;
        GpuStream stream = gpu.compute();
        now = stream.room(start) + noise.near(LAUNCH_NANOS, 0.25);
        long _ = stream.enqueue(now + LAUNCH_LATENCY_NANOS, noise.near(kernel.gpuNanos() * slowness, 0.04));
        if (kernel.library()) {
            launched("cuLaunchKernelEx", kernel, start, now, 0, 0);
        } else {
            launched("cuLaunchKernel", kernel, start + 700, now - 300, 0, 1);
            launched("cudaLaunchKernel", kernel, start, now, 0, 0);
        }
    }

    void launched(String call, Kernel kernel, long start, long end, long stream, long depth) {
        timeline.event("cuda_launch", call, thread, start, end - start)
                .with("func", kernel.func() + (depth == 0 ? 0 : 0x10_0000))
                .with("kernel", kernel.name())
                .with("grid_x", kernel.grid())
                .with("grid_y", 1)
                .with("grid_z", 1)
                .with("block_x", kernel.block())
                .with("block_y", 1)
                .with("block_z", 1)
                .with("shared_bytes", kernel.shared())
                .with("stream", stream)
                .with("status", 0)
                .with("depth", depth);
    }

    /// `tensor.to("cuda", non_blocking=pinned)`.
    void copyIn(long bytes, long to, boolean pinned) {
        if (!onGpu) {
            return;
        }
        work(15_000);
        long start = now;
        GpuStream stream = gpu.compute();
        if (pinned || bytes <= BUFFERED_BYTES) {
            now = stream.room(start) + noise.near(5_500, 0.2);
            long _ = stream.copy(now + LAUNCH_LATENCY_NANOS, Math.round(bytes / PINNED_RATE) + 1_500);
        } else {
            long staged = Math.max(start, stream.freeNanos()) + Math.round(bytes / PAGEABLE_RATE);
            now = staged + noise.near(9_000, 0.2);
            long _ = stream.copy(Math.max(start, stream.freeNanos()), now - Math.max(start, stream.freeNanos()));
        }
        copied("HtoD", bytes, to, HOST_BUFFER, pinned, start);
        if (!pinned) {
            synchronize();
        }
    }

    /// `tensor.item()`: one value to the host, and the wait for it.
    void item() {
        work(12_000);
        if (!onGpu) {
            return;
        }
        long start = now;
        now = gpu.compute().room(start) + noise.near(5_000, 0.2);
        long _ = gpu.compute().copy(now + LAUNCH_LATENCY_NANOS, 1_800);
        copied("DtoH", 4, HOST_BUFFER + 4096, 0x7f10_0000_0000L, true, start);
        synchronize();
    }

    /// `tensor.cpu()` of much: a blocking copy to pageable memory.
    void copyOut(long bytes) {
        work(15_000);
        long start = now;
        long free = Math.max(start, gpu.compute().freeNanos());
        now = free + Math.round(bytes / PAGEABLE_RATE) + noise.near(9_000, 0.2);
        long _ = gpu.compute().copy(free, now - free);
        copied("DtoH", bytes, HOST_BUFFER + (1L << 32), 0x7f10_0000_0000L, false, start);
        synchronize();
    }

    private void copied(String direction, long bytes, long to, long from, boolean pinned, long start) {
        for (int depth = 1; depth >= 0; depth--) {
            String call = depth == 0 ? "cudaMemcpyAsync" : "cuMemcpy" + direction + "Async_v2";
            timeline.event("cuda_copy", call, thread, start + 600L * depth, now - start - 900L * depth)
                    .with("bytes", bytes)
                    .with("addr", to)
                    .with("src", from)
                    .with("copy_kind", direction)
                    .with("async", 1)
                    .with("stream", 0)
                    .with("host_memory", pinned ? "pinned" : "pageable")
                    .with("status", 0)
                    .with("depth", depth);
        }
    }

    /// Waits until the GPU has done what the stream of the computation has; the thread spins.
    void synchronize() {
        synchronize("StreamSynchronize", gpu.compute().freeNanos());
    }

    /// Waits until the operations of all ranks that it takes part in are done; the GPU's, or without one gloo's.
    void awaitCollectives() {
        if (onGpu) {
            synchronizeDevice();
            return;
        }
        long start = now;
        now = Math.max(now, gpu.collectives().freeNanos()) + noise.near(SYNC_RETURN_NANOS, 0.3);
        timeline.wait(thread, "futex", "futex", start, now);
    }

    /// Waits until the GPU has done everything.
    void synchronizeDevice() {
        synchronize("DeviceSynchronize", Math.max(gpu.compute().freeNanos(), gpu.collectives().freeNanos()));
    }

    private void synchronize(String what, long free) {
        work(2_000);
        long start = now;
        boolean oneStream = what.startsWith("Stream");
        stuck = free >= NEVER;
        if (!stuck) {
            now = Math.max(start, free) + noise.near(SYNC_RETURN_NANOS, 0.3);
        }
        for (int depth = 1; depth >= 0; depth--) {
            String call = depth == 0 ? "cuda" + what : oneStream ? "cu" + what : "cuCtxSynchronize";
            long dur = stuck ? Timeline.NONE : now - start - 900L * depth;
            Timeline row = timeline.event("cuda_sync", call, thread, start + 500L * depth, dur);
            if (oneStream) {
                row.with("stream", 0);
            }
            (stuck ? row : row.with("status", 0)).with("depth", depth);
        }
    }
}
