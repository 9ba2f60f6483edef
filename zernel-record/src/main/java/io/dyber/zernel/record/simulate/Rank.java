package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Gpu;
import io.dyber.zernel.record.simulate.machine.GpuStream;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.LinkedHashMap;
import java.util.Map;

/// The training process of one rank, from `exec` to `exit`. A step is two calls, because the ranks wait for each other
/// between them.
final class Rank {
    private final JobParameters shape;
    private final Program program;
    private final Loader loader;
    private final TrainingStep step;
    private final Actor main;
    private final Noise noise;
    private final Member member;
    private final Noise lengths;
    private final RankSlowdown usual;
    private final RankSlowdown handicap;
    private final int hangsAt;
    private long lateNanos;
    private int stepsDone;
    private long firstDoneNanos;
    private long lastDoneNanos;

    /// @param firstPid it and the numbers behind it are free
    Rank(
            Member member,
            int steps,
            Collectives collectives,
            Timeline timeline,
            Noise noise,
            long firstPid) {
        this.member = member;
        this.shape = member.shape();
        InjectedCauses plant = member.plant();
        int number = member.rank();
        this.hangsAt = plant.has(Scenario.HANG) && number == shape.straggler() ? steps * 2 / 3 : -1;
        this.lengths = noise.of(3);
        this.noise = noise;
        this.main = new Actor(firstPid, firstPid, "python", noise.between(0, shape.cpus() - 1));
        long start = Simulation.START_NANOS + noise.around(30e6, 0.5);
        this.usual = RankSlowdown.none(plant);
        this.handicap = RankSlowdown.of(shape, plant, number);
        this.lateNanos = member.lateFrom() == 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        Interruptions interruptions = Interruptions.of(shape, handicap(0).preempted());
        this.program = new Program(timeline, new Gpu(member.local(), !timeline.isSilent()), shape.onGpu(), noise.of(1), interruptions, main, start);
        this.loader = new Loader(
                shape, step -> Loading.of(shape, plant, handicap(step)), steps, program, noise.of(2), firstPid + 10);
        this.step = new TrainingStep(number, shape, plant, program, collectives);
    }

    Actor main() {
        return main;
    }

    Loader loader() {
        return loader;
    }

    Gpu gpu() {
        return program.gpu();
    }

    /// What is slower on it in a step.
    private RankSlowdown handicap(int index) {
        return index < member.lateFrom() ? usual : handicap;
    }

    /// What is slower on it at a time.
    RankSlowdown handicapAt(long nanos) {
        return nanos < lateNanos ? usual : handicap;
    }

    Allocator allocator() {
        return step.allocator();
    }

    long now() {
        return program.now();
    }

    boolean isStuck() {
        return program.isStuck();
    }

    /// Starts the program, up to the training loop.
    void start() {
        Timeline timeline = program.timeline();
        timeline.event("process", "exec", main, program.now(), Timeline.NONE)
                .with("path", "/usr/bin/python3");
        importModules();
        step.prepare();
    }

    /// The ranks leave the making of their communicator together, and come to a barrier.
    void startTogether(long nanos) {
        program.waitUntil(nanos);
        step.enterBarrier();
    }

    /// Once it is known when all ranks are there.
    void passBarrier() {
        step.passBarrier();
    }

    /// Data, forward and backward pass.
    void beginStep(int index) {
        if (isStuck()) {
            return;
        }
        program.restart(index);
        if (index > 0 && index == member.lateFrom()) {
            program.interrupt(Interruptions.of(shape, handicap.preempted()));
            lateNanos = program.now();
        }
        if (index == hangsAt) {
            loader.hang(shape.stragglerReason() == RankSlowdown.Reason.DATA);
            return;
        }
        loader.next(index);
        step.computeGradients(index, length(index), handicap(index).slowness());
    }

    /// The rest, once it is known when the gradients of all ranks are there.
    void endStep(int index) {
        if (isStuck()) {
            return;
        }
        GpuStream compute = program.gpu().compute();
        compute.waitFor(program.gpu().collectives().freeNanos());
        step.update(index);
        if (compute.freeNanos() < Program.NEVER) {
            lastDoneNanos = Math.max(program.now(), compute.freeNanos());
            firstDoneNanos = stepsDone == 0 ? lastDoneNanos : firstDoneNanos;
            stepsDone++;
        }
        if (!isStuck()) {
            step.lookAtLoss(index);
        }
    }

    void exit() {
        if (isStuck()) {
            return;
        }
        loader.endEpoch();
        loader.stop();
        program.work(200e6);
        program.timeline()
                .event("process", "exit", main, program.now(), Timeline.NONE)
                .with("status", 0);
    }

    /// Mean length of the steps after the first. A step is done when the GPU has done its work too: the program may be
    /// some steps ahead of it, and that must not count as speed.
    long stepNanos() {
        return stepsDone < 2 ? 0 : (lastDoneNanos - firstDoneNanos) / (stepsDone - 1);
    }

    /// Of the step's sequences, 1 is usual.
    private double length(int index) {
        if (member.lengthSpread() == 0) {
            return 1;
        }
        lengths.restart(index);
        return lengths.between(1 - member.lengthSpread(), 1 + member.lengthSpread());
    }

    private void importModules() {
        for (int file = 0; file < 150; file++) {
            String path = "/usr/lib/python3.12/site-packages/torch/module_" + file + ".pyc";
            long open = noise.near(9_000, 0.5);
            program.timeline()
                    .event("io_open", "openat", main, program.now(), open)
                    .with("fd", 3)
                    .with("status", 3)
                    .with("writable", 0)
                    .with("path", path);
            program.waitUntil(program.now() + open + 3_000);
            long read = noise.near(8_000, 0.6);
            program.waitUntil(program.timeline().read(main, 3, noise.around(9_000, 0.8), path, program.now(), read));
            program.work(6e6);
        }
    }

    /// Names of the environment that a launcher sets.
    Map<String, String> environment() {
        if (shape.ranks() == 1) {
            return Map.of();
        }
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("RANK", Integer.toString(member.rank()));
        environment.put("LOCAL_RANK", Integer.toString(member.local()));
        environment.put("WORLD_SIZE", Integer.toString(shape.ranks()));
        return environment;
    }

    /// A rank of a job, and what is wrong with it.
    ///
    /// @param local its number on its machine
    /// @param lengthSpread how much its kernels' time differs from step to step, because its sequences differ in length
    /// @param lateFrom the step with which it begins to be slower, where that is wrong
    record Member(int rank, int local, JobParameters shape, InjectedCauses plant, double lengthSpread, int lateFrom) {}
}
