package io.dyber.zernel.record.simulate;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// The training process of one rank: its main thread, and the workers of its DataLoader.
///
/// A step is two calls, because the ranks wait for each other in the backward pass.
final class Trainer {
    private static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    private static final int BATCH_FD = 9;
    private static final double FORWARD_SHARE = 0.32;
    private static final double BACKWARD_SHARE = 0.56;
    private static final double OPTIMIZER_SHARE = 0.11;

    private final Job job;
    private final Timeline timeline;
    private final Noise noise;
    private final Actor main;
    private final List<LoaderWorker> workers = new ArrayList<>();
    private final Deque<Long> ready = new ArrayDeque<>();
    private int requested;
    private int taken;
    private long now;
    private long firstNextNanos;
    private long lastStepNanos;
    private long dataWaitNanos;
    private long backwardNanos;

    /// Starts the program and its workers; `firstPid` and the numbers behind it are free.
    Trainer(Job job, Timeline timeline, Noise noise, long firstPid, long startNanos) {
        this.job = job;
        this.timeline = timeline;
        this.noise = noise;
        this.main = new Actor(firstPid, firstPid, "python", noise.between(0, job.cpus() - 1));
        this.now = startNanos;
        timeline.process(main, "exec", now, new Extra("path", "/usr/bin/python3"));
        importModules();
        for (int w = 0; w < job.workers(); w++) {
            long pid = firstPid + 1 + 2L * w;
            timeline.process(main, "fork", now, new Extra("child_pid", pid), new Extra("child_tid", pid));
            long up = now + noise.around(9e6, 0.3);
            workers.add(new LoaderWorker(job, timeline, noise.split(), pid, pid + 1, up));
            now += noise.around(4e6, 0.2);
        }
    }

    static long pidsNeeded(Job job) {
        return 1 + 2L * job.workers();
    }

    Actor main() {
        return main;
    }

    List<LoaderWorker> workers() {
        return workers;
    }

    long nowNanos() {
        return now;
    }

    /// Time inside `__next__` so far.
    long dataWaitNanos() {
        return dataWaitNanos;
    }

    /// From the first `__next__` to the end of the last step.
    long trainingNanos() {
        return lastStepNanos - firstNextNanos;
    }

    /// Data, forward, and this rank's part of backward; returns when this rank could end its backward pass.
    long beginStep(int step) {
        if (step % job.stepsPerEpoch() == 0) {
            beginEpoch(step);
        }
        next();
        now += noise.around(60_000, 0.3);
        now = region("Optimizer.zero_grad#AdamW.zero_grad", noise.around(90_000, 0.2));
        long forward = noise.around(job.computeNanos() * FORWARD_SHARE, 0.03);
        now = job.ranks() > 1 ? region("DistributedDataParallel.forward", forward) : now + forward;
        now += noise.around(80_000, 0.3);
        backwardNanos = now;
        return now + noise.around(job.computeNanos() * BACKWARD_SHARE, 0.03);
    }

    /// The rest of the step, once all gradients are there.
    void endStep(long backwardEndNanos) {
        timeline.backward(main, backwardNanos, backwardEndNanos);
        now = backwardEndNanos + noise.around(50_000, 0.3);
        now = region("Optimizer.step#AdamW.step", noise.around(job.computeNanos() * OPTIMIZER_SHARE, 0.05));
        lastStepNanos = now;
        now += noise.around(job.computeNanos() * 0.008, 0.3);
    }

    void exit() {
        endOfEpoch();
        for (LoaderWorker worker : workers) {
            worker.exit(now);
            now += noise.around(1e6, 0.3);
        }
        now += noise.around(200e6, 0.2);
        timeline.process(main, "exit", now, Extra.status(0));
    }

    private void importModules() {
        for (int file = 0; file < 400; file++) {
            now = timeline.read(main, 3, noise.around(9_000, 0.8), now, noise.around(6_000, 0.6));
            now += noise.around(4e6, 0.6);
        }
    }

    /// Persistent workers: an epoch only refills the queues.
    private void beginEpoch(int step) {
        if (step == 0) {
            firstNextNanos = now;
        } else {
            endOfEpoch();
        }
        requested = step;
        taken = step;
        while (requested < step + job.workers() * job.prefetchFactor() && request(step)) {
            now += noise.around(20_000, 0.2);
        }
    }

    /// Sends the next index list to the worker whose turn it is; false at the end of the epoch.
    private boolean request(int anyStep) {
        int epochEnd = Math.min(job.steps(), (anyStep / job.stepsPerEpoch() + 1) * job.stepsPerEpoch());
        if (requested >= epochEnd) {
            return false;
        }
        ready.add(workers.get(requested % job.workers()).load(now));
        requested++;
        return true;
    }

    /// The call that finds the loader empty.
    private void endOfEpoch() {
        now = region(NEXT, noise.around(45_000, 0.2));
        now += noise.around(job.computeNanos() * 0.05, 0.2);
    }

    private void next() {
        long start = now;
        long arrival = Math.max(start, ready.remove());
        timeline.wait(main, "poll", start, arrival, Extra.fd(BATCH_FD));
        now = timeline.read(main, BATCH_FD, 4, arrival, noise.around(1_200, 0.3));
        now = timeline.read(main, BATCH_FD, 612, now, noise.around(1_800, 0.3));
        now += noise.around(140_000, 0.3);
        boolean _ = request(taken);
        taken++;
        now += noise.around(30_000, 0.2);
        timeline.region(main, NEXT, start, now);
        dataWaitNanos += now - start;
    }

    private long region(String name, long dur) {
        timeline.region(main, name, now, now + dur);
        return now + dur;
    }
}
