package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.CLOSURE;
import static io.dyber.zernel.record.simulate.Scenario.EVALUATION;
import static io.dyber.zernel.record.simulate.Scenario.LAUNCH_BOUND;
import static io.dyber.zernel.record.simulate.Scenario.PAGEABLE_COPIES;
import static io.dyber.zernel.record.simulate.Scenario.SYNC_BOUND;

import io.dyber.zernel.record.simulate.Allocator.Block;
import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Kernel;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// What the training loop does with a batch.
final class TrainingStep {
    private static final double PAGEABLE_RATE = 5;
    private static final int STOPS = 6;
    private static final String EVALUATED_NEXT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    /// Batches of an evaluation.
    private static final int EVALUATED = 8;

    private final JobParameters shape;
    private final InjectedCauses plant;
    private final Program program;
    private final Gradients gradients;
    private final Allocator allocator;
    private final MemoryPressure memory;
    private final Stalls stalls;
    private final Hindrances hindrances;
    private final Actor main;
    private final Actor autograd;
    private final double opNanos;
    private final long batchBytes;
    private final Deque<Block> activations = new ArrayDeque<>();
    private final List<Block> batch = new ArrayList<>();
    private long closureNanos;
    private long backwardNanos;
    private double length = 1;
    private double slowness = 1;

    TrainingStep(
            int rank, JobParameters shape, InjectedCauses plant, Program program, Collectives collectives) {
        this.shape = shape;
        this.plant = plant;
        this.program = program;
        this.allocator = new Allocator(program);
        this.gradients = new Gradients(rank, shape, plant, program, allocator, collectives);
        this.memory = new MemoryPressure(shape, plant, allocator, program);
        this.stalls = new Stalls(rank, shape, plant, program);
        this.hindrances = new Hindrances(shape, plant, program);
        this.main = program.thread();
        this.autograd = new Actor(main.pid(), main.pid() + 1, "pt_autograd_0", (main.cpu() + 1) % shape.cpus());
        int ops = shape.kernels().count();
        this.opNanos = shape.opNanos() + plant.amount(LAUNCH_BOUND) * shape.gpuNanos() / ops;
        this.batchBytes = Math.max(
                shape.batchBytes(),
                Math.round(plant.size(PAGEABLE_COPIES) * shape.gpuNanos() * PAGEABLE_RATE));
    }

    Allocator allocator() {
        return allocator;
    }

    /// Parameters, the optimizer's state, the communicator.
    void prepare() {
        program.work(400e6);
        for (int copy = 0; copy < 3; copy++) {
            for (int part = 0; part < 4; part++) {
                Block _ = allocator.allocate(shape.modelBytes() / 4);
                program.work(3e6);
            }
        }
        hindrances.prepare();
        gradients.prepare();
        if (!program.onGpu()) {
            return;
        }
        program.timeline()
                .event("process", "thread", main, program.now(), Timeline.NONE)
                .with("child_pid", main.pid())
                .with("child_tid", autograd.tid());
    }

    /// What all ranks do before the first step.
    void enterBarrier() {
        gradients.enterBarrier();
    }

    void passBarrier() {
        gradients.passBarrier();
    }

    /// Up to the backward pass's wait for the gradients of the other ranks.
    ///
    /// @param length of its sequences, 1 is usual
    /// @param slowness of its GPU, 1 is usual
    void computeGradients(int step, double length, double slowness) {
        this.length = length;
        this.slowness = slowness;
        copyBatch();
        closureNanos = program.now();
        long zero = program.now();
        gradients.zero();
        program.work(60_000);
        program.region("Optimizer.zero_grad#AdamW.zero_grad", zero);
        long start = program.now();
        memory.begin(step);
        forward(step);
        if (gradients.overlap()) {
            gradients.announce();
            program.region("DistributedDataParallel.forward", start);
        }
        program.work(70_000);
        backward(step);
        if (!gradients.overlap()) {
            endBackward();
        }
        gradients.reduceAfterwards();
    }

    /// The optimizer, once the gradients are there.
    void update(int step) {
        if (gradients.overlap()) {
            endBackward();
        }
        gradients.awaitReduced();
        if (program.isStuck()) {
            return;
        }
        program.work(40_000);
        if (shape.syncInStep() && looksAtLoss(step)) {
            program.item();
            if (program.isStuck()) {
                return;
            }
        }
        long start = plant.size(CLOSURE) > 0 ? closureNanos : program.now();
        program.work(60_000);
        for (Kernel kernel : shape.kernels().optimizer()) {
            program.launch(kernel, opNanos, slowness);
        }
        program.region("Optimizer.step#AdamW.step", start);
        memory.end();
    }

    void lookAtLoss(int step) {
        program.work(30_000);
        if (!shape.syncInStep() && looksAtLoss(step)) {
            program.item();
            program.work(80_000);
        }
        if (!program.isStuck()) {
            hindrances.hinder();
            stalls.checkpoint(step);
            evaluate(step);
        }
    }

    /// The model on batches of which nothing is learned, every so many steps.
    private void evaluate(int step) {
        if (!plant.has(EVALUATION) || !stalls.isDue(step)) {
            return;
        }
        double batchNanos = plant.amount(EVALUATION) * shape.gpuNanos() * shape.stallEvery() / EVALUATED;
        for (int i = 0; i < EVALUATED; i++) {
            long start = program.now();
            program.work(0.1 * batchNanos);
            program.region(EVALUATED_NEXT, start);
            for (int part = 0; part < EVALUATED; part++) {
                program.work(0.9 * batchNanos / EVALUATED);
            }
        }
        long empty = program.now();
        program.work(20_000);
        program.region(EVALUATED_NEXT, empty);
    }

    private boolean looksAtLoss(int step) {
        return step % shape.syncEvery() == 0;
    }

    private void copyBatch() {
        boolean pinned = shape.pinned() && !plant.has(PAGEABLE_COPIES);
        List<Block> old = List.copyOf(batch);
        batch.clear();
        for (long bytes : new long[] {batchBytes, shape.batchSize() * 8L}) {
            Block block = allocator.allocate(bytes);
            program.copyIn(bytes, block.addr(), pinned);
            batch.add(block);
        }
        old.forEach(allocator::free);
    }

    private void forward(int step) {
        List<Kernel> kernels = shape.kernels().forward();
        stalls.collectGarbage(step);
        stalls.compile(step);
        int every = Math.max(1, kernels.size() / STOPS);
        for (int i = 0; i < kernels.size(); i++) {
            Kernel kernel = kernels.get(i);
            if (kernel.activationBytes() > 0) {
                activations.push(allocator.allocate(kernel.activationBytes()));
            }
            program.launch(kernel, opNanos(step), slowness(step));
            if (plant.size(SYNC_BOUND) > 0 && i % every == every - 1) {
                stop();
            }
        }
    }

    /// `.item()`, and what the program does with the value while the GPU has nothing to do.
    private void stop() {
        if (plant.has(SYNC_BOUND)) {
            program.item();
        }
        program.work(plant.size(SYNC_BOUND) * shape.gpuNanos() / STOPS);
    }

    /// The main thread waits in the engine while autograd's thread for the device launches the kernels; without a GPU
    /// it runs them itself.
    private void backward(int step) {
        backwardNanos = program.now();
        program.runIn(program.onGpu() ? autograd : main);
        program.work(40_000);
        List<Kernel> kernels = shape.kernels().backward();
        for (int i = 0; i < kernels.size(); i++) {
            program.launch(kernels.get(i), opNanos(step), slowness(step));
            int kept = shape.kernels().forward().size() * (kernels.size() - 1 - i) / (2 * kernels.size());
            while (activations.size() > kept) {
                allocator.free(activations.pop());
            }
            gradients.computed(i + 1, kernels.size());
        }
    }

    private void endBackward() {
        gradients.finish();
        program.runIn(main);
        Timeline timeline = program.timeline();
        if (program.onGpu()) {
            timeline.wait(main, "futex", "futex", backwardNanos + 30_000, program.now());
        }
        program.work(15_000);
        timeline.event("backward", "Engine::execute", main, backwardNanos, program.now() - backwardNanos);
    }

    /// The first step loads modules and tries algorithms; the next two are still a little slow.
    private double opNanos(int step) {
        return opNanos + (step == 0 ? 250_000 : 0);
    }

    private double slowness(int step) {
        return switch (step) {
            case 0 -> 4 * slowness * length;
            case 1 -> 1.2 * slowness * length;
            case 2 -> 1.05 * slowness * length;
            default -> slowness * length;
        };
    }
}
