package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntFunction;

/// A DataLoader: its workers load batches in turn, a bounded number ahead of the training program, and a thread of the
/// program may copy them to pinned memory.
final class Loader {
    private static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    /// Where PyTorch looks after its workers while it waits.
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private static final double COPY_RATE = 6;
    private static final int BATCH_FD = 9;

    private final JobParameters shape;
    private final Loading loading;
    private final IntFunction<Loading> byStep;
    private final int steps;
    private final Program program;
    private final Noise noise;
    private final Actor pinner;
    private final String pipe;
    private final List<LoaderWorker> workers = new ArrayList<>();
    private final List<Actor> everStarted = new ArrayList<>();
    private final Deque<Long> ready = new ArrayDeque<>();
    private int requested;
    private long nextPid;
    private long pinnedNanos;

    /// @param byStep what its workers do for the batch of a step
    Loader(JobParameters shape, IntFunction<Loading> byStep, int steps, Program program, Noise noise, long firstPid) {
        this.shape = shape;
        this.byStep = byStep;
        this.loading = byStep.apply(0);
        this.steps = steps;
        this.program = program;
        this.noise = noise;
        Actor main = program.thread();
        this.pinner = new Actor(main.pid(), main.pid() + 2, "pt_data_pin", main.cpu());
        this.pipe = "pipe:[" + (8_000_000 + main.pid()) + "]";
        this.nextPid = firstPid;
    }

    /// A wait of the kind that gives up every five seconds and tries again.
    static void await(Timeline timeline, Actor actor, String call, String object, long start, long end) {
        long from = start;
        while (end - from > PATIENCE_NANOS) {
            timeline.wait(actor, call, object, from, from + PATIENCE_NANOS);
            from += PATIENCE_NANOS + 20_000;
        }
        timeline.wait(actor, call, object, from, end);
    }

    /// Worker processes, also those that have ended.
    List<Actor> everStarted() {
        return everStarted;
    }

    /// The next batch, in an epoch that may begin or end with it.
    void next(int step) {
        if (step % shape.stepsPerEpoch() == 0) {
            if (step > 0) {
                endEpoch();
            }
            beginEpoch(step);
        }
        long start = program.now();
        long arrival = Math.max(start, ready.remove());
        Timeline timeline = program.timeline();
        if (loading.pinned()) {
            await(timeline, program.thread(), "futex", "futex", start, arrival);
            program.waitUntil(arrival);
        } else {
            await(timeline, program.thread(), "poll", pipe, start, arrival);
            program.waitUntil(receive(program.thread(), arrival));
        }
        program.work(140_000);
        request(step);
        program.work(20_000);
        program.region(NEXT, start);
    }

    /// The program never goes on: inside the loader, which tries again and again to the end of the recording, or somewhere
    /// that no probe sees.
    void hang(boolean inLoader) {
        if (inLoader) {
            program.timeline().event("region", NEXT, program.thread(), program.now(), Timeline.NONE);
            long end = program.now() + Training.HANG_NANOS;
            await(program.timeline(), program.thread(), "poll", pipe, program.now(), end);
        }
        program.hang();
    }

    /// The call that finds the loader empty, and joins workers that end then.
    void endEpoch() {
        long start = program.now();
        program.work(45_000);
        if (!loading.persistent()) {
            stop();
        }
        program.region(NEXT, start);
    }

    void stop() {
        for (LoaderWorker worker : workers) {
            worker.exit(program.now());
            program.work(1e6);
        }
        workers.clear();
    }

    private void beginEpoch(int step) {
        if (workers.isEmpty()) {
            startWorkers(step);
        }
        requested = step;
        for (int i = 0; i < loading.workers() * shape.prefetchFactor(); i++) {
            request(step);
            program.work(20_000);
        }
    }

    private void startWorkers(int step) {
        for (int w = 0; w < loading.workers(); w++) {
            long pid = nextPid;
            nextPid += 2;
            program.timeline()
                    .event("process", "fork", program.thread(), program.now(), Timeline.NONE)
                    .with("child_pid", pid)
                    .with("child_tid", pid);
            Noise chance = noise.of(step * 1_000L + w);
            Actor main = new Actor(pid, pid, "pt_data_worker", chance.between(0, shape.cpus() - 1));
            Actor feeder = new Actor(pid, pid + 1, "pt_data_worker", chance.between(0, shape.cpus() - 1));
            long up = program.now() + chance.around((double) loading.startNanos(), 0.1);
            workers.add(new LoaderWorker(program.timeline(), chance, main, feeder, up));
            everStarted.add(main);
            program.work(4e6 + loading.forkNanos());
        }
    }

    /// Sends the next index list to the worker whose turn it is, unless the epoch has no more.
    private void request(int anyStep) {
        int epochEnd = Math.min(steps, (anyStep / shape.stepsPerEpoch() + 1) * shape.stepsPerEpoch());
        if (requested < epochEnd) {
            long arrival = workers.get(requested % workers.size()).load(requested, program.now(), byStep.apply(requested));
            ready.add(loading.pinned() ? pin(arrival) : arrival);
            requested++;
        }
    }

    /// The pinning thread takes the batch from the pipe and copies it.
    private long pin(long arrival) {
        long begin = Math.max(pinnedNanos, arrival);
        await(program.timeline(), pinner, "poll", pipe, pinnedNanos == 0 ? arrival : pinnedNanos, begin);
        pinnedNanos = receive(pinner, begin) + 90_000 + Math.round((double) shape.batchBytes() / COPY_RATE);
        return pinnedNanos;
    }

    private long receive(Actor actor, long arrival) {
        long now = program.timeline().read(actor, BATCH_FD, 4, pipe, arrival, 1_200);
        return program.timeline().read(actor, BATCH_FD, 612, pipe, now, 1_900);
    }
}
