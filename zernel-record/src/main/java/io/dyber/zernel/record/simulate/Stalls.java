package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.CHECKPOINT_STALL;
import static io.dyber.zernel.record.simulate.Scenario.GC_STALL;
import static io.dyber.zernel.record.simulate.Scenario.RECOMPILES;

/// What stops the training program every so many steps.
final class Stalls {
    /// Of a checkpoint: copying to the host, then serializing and writing.
    private static final double COPYING = 0.2;

    private static final double SERIALIZING = 0.35;
    private static final double PAGEABLE_RATE = 5;
    private static final long WRITE_NANOS = 40_000_000;
    private static final int FILE_FD = 44;
    private static final int GRAPHS = 5;
    private static final double FIRST_COMPILE_NANOS = 3e9;

    private final int rank;
    private final JobParameters shape;
    private final InjectedCauses plant;
    private final Program program;

    Stalls(int rank, JobParameters shape, InjectedCauses plant, Program program) {
        this.rank = rank;
        this.shape = shape;
        this.plant = plant;
        this.program = program;
    }

    /// Python's collector looks through all objects, on the CPU and in no call.
    void collectGarbage(int step) {
        if (plant.has(GC_STALL) && isDue(step)) {
            program.work(plant.amount(GC_STALL) * shape.gpuNanos() * shape.stallEvery());
        }
    }

    /// `torch.save`, by the first rank.
    void checkpoint(int step) {
        if (!plant.has(CHECKPOINT_STALL) || rank != 0 || !isDue(step)) {
            return;
        }
        double stall = plant.amount(CHECKPOINT_STALL) * shape.gpuNanos() * shape.stallEvery();
        program.item();
        for (int part = 0; part < 4; part++) {
            program.copyOut(Math.round(stall * COPYING * PAGEABLE_RATE / 4));
        }
        long open = program.now();
        program.work(35_000);
        program.timeline()
                .event("io_open", "openat", program.thread(), open, program.now() - open)
                .with("fd", FILE_FD)
                .with("status", FILE_FD)
                .with("writable", 1)
                .with("path", "/checkpoints/run/step_" + step + ".pt");
        double left = stall * (1 - COPYING);
        while (left > 0) {
            double part = Math.min(left, WRITE_NANOS);
            program.work(part * SERIALIZING);
            program.block("io", Math.round(part * (1 - SERIALIZING)));
            left -= part;
        }
    }

    /// `torch.compile`: TorchInductor makes code for another shape of the batch, and looks for it in its cache.
    void compile(int step) {
        if (plant.size(RECOMPILES) == 0) {
            return;
        }
        boolean again = plant.has(RECOMPILES) && isDue(step);
        if (step > 0 && !again) {
            return;
        }
        double left = step == 0 ? FIRST_COMPILE_NANOS : plant.amount(RECOMPILES) * shape.gpuNanos() * shape.stallEvery();
        for (int graph = 0; graph < GRAPHS; graph++) {
            long open = program.now();
            program.work(25_000);
            program.timeline()
                    .event("io_open", "openat", program.thread(), open, program.now() - open)
                    .with("fd", FILE_FD)
                    .with("status", FILE_FD)
                    .with("writable", 1)
                    .with("path", "/tmp/torchinductor_user/c%d/c%d_%d.py".formatted(graph, step, graph));
            program.work(left / GRAPHS);
        }
    }

    boolean isDue(int step) {
        return step % shape.stallEvery() == shape.stallEvery() - 1;
    }
}
