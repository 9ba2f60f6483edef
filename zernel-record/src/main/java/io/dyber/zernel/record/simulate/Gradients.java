package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.COMM_BOUND;
import static io.dyber.zernel.record.simulate.Scenario.SMALL_COLLECTIVES;

import io.dyber.zernel.record.simulate.Allocator.Block;
import io.dyber.zernel.record.simulate.machine.Kernel;
import java.util.ArrayList;
import java.util.List;

/// The gradients of one rank: computed bucket by bucket in the backward pass and, with several ranks, reduced: by NCCL, and
/// by gloo in jobs without GPUs.
///
/// DistributedDataParallel reduces each bucket as soon as it is complete, and lets the GPU wait for it. Others do so after
/// the backward pass, between two waits of the program for the GPU, as DeepSpeed's ZeRO 1 and 2 (`overlap_comm`) did for
/// models of one bucket.
final class Gradients {
    /// The bucket of the first layers comes last and is small.
    private static final double LAST_BUCKET = 0.12;

    private static final Kernel REDUCE = new Kernel(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            true, 0x55d0_0000_9000L, 24, 512, 82_240, 0, 0);

    private final int rank;
    private final JobParameters shape;
    private final Program program;
    private final Allocator allocator;
    private final Collectives collectives;
    private final boolean afterwards;
    private final boolean overlap;
    private final long[] bytes;
    private final List<Block> blocks = new ArrayList<>();

    Gradients(
            int rank, JobParameters shape, InjectedCauses plant, Program program, Allocator allocator, Collectives collectives) {
        this.rank = rank;
        this.shape = shape;
        this.program = program;
        this.allocator = allocator;
        this.collectives = collectives;
        this.afterwards = shape.ranks() > 1 && (plant.has(COMM_BOUND) || plant.size(SMALL_COLLECTIVES) > 0);
        this.overlap = shape.ranks() > 1 && !afterwards;
        int many = (int) Math.round(plant.amount(SMALL_COLLECTIVES) * shape.gpuNanos() / shape.latencyNanos());
        this.bytes = new long[shape.buckets() + many];
        for (int i = 0; i < bytes.length; i++) {
            double weight = i == bytes.length - 1 ? LAST_BUCKET : 1;
            bytes[i] = Math.round(shape.modelBytes() * weight / (bytes.length - 1 + LAST_BUCKET)) & ~511L;
        }
    }

    /// Whether they are reduced while the backward pass goes on.
    boolean overlap() {
        return overlap;
    }

    /// The communicator of the job.
    void prepare() {
        if (shape.ranks() == 1) {
            return;
        }
        long start = program.now();
        program.work(350e6);
        if (!program.onGpu()) {
            return;
        }
        program.timeline()
                .event("nccl_comm", "ncclCommInitRankConfig", program.thread(), start, program.now() - start)
                .with("communicator", Collectives.COMMUNICATOR)
                .with("comm_id", Collectives.COMM_ID)
                .with("rank", rank)
                .with("nranks", shape.ranks())
                .with("status", 0)
                .with("depth", 0);
    }

    /// Sets them to none.
    void zero() {
        blocks.forEach(allocator::free);
        blocks.clear();
    }

    /// What DDP does at the end of a forward pass.
    void announce() {
        long start = program.now();
        program.work(25_000);
        program.region("c10d::Reducer::prepare_for_backward", start);
    }

    /// So many of all backward kernels are launched.
    void computed(int kernels, int all) {
        while (blocks.size() < bytes.length && kernels * bytes.length >= (blocks.size() + 1) * all) {
            int bucket = blocks.size();
            blocks.add(allocator.allocate(bytes[bucket]));
            if (overlap) {
                long start = program.now();
                program.work(14_000);
                allReduce(bytes[bucket]);
                program.work(6_000);
                program.region("c10d::Reducer::all_reduce_bucket", start);
            }
        }
    }

    /// `torch.distributed.barrier()`, up to the wait: one byte goes round.
    void enterBarrier() {
        if (shape.ranks() > 1) {
            allReduce(1);
        }
    }

    void passBarrier() {
        if (shape.ranks() > 1) {
            program.awaitCollectives();
        }
    }

    private void allReduce(long size) {
        long call = program.now();
        if (!program.onGpu()) {
            program.work(17_000);
            long _ = collectives.enter(rank, program.gpu(), size, program.now());
            return;
        }
        program.work(9_000);
        long launch = program.now();
        program.work(5_000);
        program.launched("cuLaunchKernelEx", REDUCE, launch, program.now(), Collectives.STREAM, 0);
        program.work(3_000);
        long ready = Math.max(program.now(), program.gpu().compute().freeNanos());
        long seq = collectives.enter(rank, program.gpu(), size, ready);
        program.timeline()
                .event("nccl", "ncclAllReduce", program.thread(), call, program.now() - call)
                .with("bytes", size)
                .with("count", size / 4)
                .with("dtype", "float32")
                .with("op", "sum")
                .with("communicator", Collectives.COMMUNICATOR)
                .with("comm_id", Collectives.COMM_ID)
                .with("seq", seq)
                .with("rank", rank)
                .with("nranks", shape.ranks())
                .with("stream", Collectives.STREAM)
                .with("grouped", 0)
                .with("status", 0)
                .with("depth", 0);
    }

    /// After the backward pass: what is reduced only now.
    void reduceAfterwards() {
        if (!afterwards) {
            return;
        }
        program.synchronizeDevice();
        for (long size : bytes) {
            program.work(20_000);
            allReduce(size);
        }
        program.work(10_000);
    }

    /// The wait for what was reduced afterwards, once it is known how long that takes.
    void awaitReduced() {
        if (afterwards) {
            program.synchronizeDevice();
        }
    }

    /// DDP lets the stream of the computation wait for the buckets; the thread does not wait. Without a GPU it does, for the
    /// rank that comes last.
    void finish() {
        if (!overlap) {
            return;
        }
        long start = program.now();
        if (!program.onGpu()) {
            program.work(4_000);
            long wait = program.now();
            program.work(500);
            program.awaitCollectives();
            program.work(500);
            distributedWait("Work::wait", wait, program.now(), 1);
            program.work(20_000);
            distributedWait("Reducer::finalize_backward", start, program.now(), 0);
            return;
        }
        for (Block _ : blocks) {
            program.work(4_000);
            long wait = program.now();
            program.work(5_000);
            distributedWait("WorkNCCL::synchronize", wait + 500, program.now() - 400, 2);
            distributedWait("WorkNCCL::wait", wait, program.now(), 1);
        }
        program.work(20_000);
        distributedWait("Reducer::finalize_backward", start, program.now(), 0);
    }

    private void distributedWait(String name, long start, long end, long depth) {
        program.timeline()
                .event("dist_wait", name, program.thread(), start, end - start)
                .with("depth", depth);
    }
}
