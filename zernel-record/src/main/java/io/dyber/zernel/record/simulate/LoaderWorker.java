package io.dyber.zernel.record.simulate;

/// A DataLoader worker process: takes index lists from a pipe, reads and transforms samples, hands over batches.
final class LoaderWorker {
    private static final int INDEX_FD = 5;
    private static final int SAMPLE_FD = 11;
    /// Batches differ, so workers that began together do not stay in step.
    private static final double BATCH_SPREAD = 0.25;
    private static final long FEEDER_LOCK = 0x7f5c_0000_1000L;

    private final Job job;
    private final Timeline timeline;
    private final Noise noise;
    private final Actor main;
    private final Actor feeder;
    private long freeNanos;
    private long handedOverNanos;

    LoaderWorker(Job job, Timeline timeline, Noise noise, long pid, long feederTid, long startNanos) {
        this.job = job;
        this.timeline = timeline;
        this.noise = noise;
        this.main = new Actor(pid, pid, "pt_data_worker", noise.between(0, job.cpus() - 1));
        this.feeder = new Actor(pid, feederTid, "pt_data_worker", noise.between(0, job.cpus() - 1));
        this.freeNanos = startNanos;
        this.handedOverNanos = startNanos;
        timeline.process(main, "rename", startNanos);
        timeline.process(main, "thread", startNanos, new Extra("child_tid", feederTid));
    }

    Actor main() {
        return main;
    }

    /// Loads one batch whose indices were sent at `sentNanos`; returns when it is ready in the pipe to the trainer.
    long load(long sentNanos) {
        long begin = Math.max(freeNanos, sentNanos + noise.around(25_000, 0.3));
        timeline.wait(main, "poll", freeNanos, begin, Extra.fd(INDEX_FD));
        long now = timeline.read(main, INDEX_FD, 4, begin, noise.around(900, 0.3));
        now = timeline.read(main, INDEX_FD, 40 + 9L * job.batchSize(), now, noise.around(1_500, 0.3));
        double perSample = noise.around((double) job.loadNanos(), BATCH_SPREAD) / (double) job.batchSize();
        for (int sample = 0; sample < job.batchSize(); sample++) {
            long reading = noise.around(perSample * job.readingShare(), 0.5);
            now = timeline.read(main, SAMPLE_FD, job.sampleBytes(), now, reading);
            now += noise.around(perSample * (1 - job.readingShare()), 0.25);
        }
        timeline.wait(feeder, "futex", handedOverNanos, now, Extra.addr(FEEDER_LOCK + main.pid()));
        handedOverNanos = now + noise.around(120_000, 0.3);
        freeNanos = now;
        return handedOverNanos;
    }

    void exit(long atNanos) {
        timeline.wait(main, "poll", freeNanos, atNanos, Extra.fd(INDEX_FD));
        timeline.process(main, "exit", Math.max(freeNanos, atNanos), Extra.status(0));
    }
}
