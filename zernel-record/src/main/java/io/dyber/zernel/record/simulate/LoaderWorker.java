package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;

/// A DataLoader worker process: takes index lists from a pipe, reads and transforms samples, hands over batches.
final class LoaderWorker {
    /// Batches differ, so workers that began together do not stay in step.
    private static final double BATCH_SPREAD = 0.25;

    private static final int INDEX_FD = 5;
    private static final int SAMPLE_FD = 11;

    private final Timeline timeline;
    private final Noise noise;
    private final Actor main;
    private final Actor feeder;
    private final String shard;
    private final String pipe;
    private final String socket;
    private long freeNanos;
    private long handedOverNanos;

    LoaderWorker(Timeline timeline, Noise noise, Actor main, Actor feeder, long startNanos) {
        this.timeline = timeline;
        this.noise = noise;
        this.main = main;
        this.feeder = feeder;
        this.shard = "/data/train/shard-" + main.pid() % 16 + ".tar";
        this.pipe = "pipe:[" + (9_000_000 + main.pid()) + "]";
        this.socket = "socket:[" + (9_500_000 + main.pid()) + "]";
        timeline.process(main, "rename", startNanos);
        timeline.event("process", "thread", main, startNanos + 200_000, Timeline.NONE)
                .with("child_pid", main.pid())
                .with("child_tid", feeder.tid());
        freeNanos = startNanos + 300_000;
        handedOverNanos = freeNanos;
    }

    Actor main() {
        return main;
    }

    /// Loads the batch of a step whose indices were sent at `sentNanos`; returns when it is ready in the pipe to the
    /// trainer.
    long load(int step, long sentNanos, Loading loading) {
        noise.restart(step);
        long begin = Math.max(freeNanos, sentNanos + noise.around(25_000, 0.3));
        Loader.await(timeline, main, "poll", pipe, freeNanos, begin);
        long now = timeline.read(main, INDEX_FD, 4, pipe, begin, noise.around(900, 0.3));
        now = timeline.read(main, INDEX_FD, 40 + 9L * loading.samples(), pipe, now, noise.around(1_500, 0.3));
        double size = noise.around(1e6, BATCH_SPREAD) / 1e6 / loading.samples();
        for (int sample = 0; sample < loading.samples(); sample++) {
            now = read(loading, now, noise.around(size * loading.cachedNanos(), 0.5), size * loading.storageNanos());
            now = fetch(now, size * loading.remoteNanos());
            now += noise.around(size * loading.transformNanos(), 0.25);
        }
        timeline.wait(feeder, "futex", "futex", handedOverNanos, now);
        handedOverNanos = now + noise.around(120_000, 0.3);
        freeNanos = now;
        return handedOverNanos;
    }

    /// A sample, from the page cache or from storage.
    private long read(Loading loading, long start, long cachedNanos, double storageNanos) {
        long io = storageNanos > 0 ? noise.around(storageNanos, 0.6) : 0;
        long dur = cachedNanos + io;
        timeline.event("io", "pread64", main, start, dur)
                .with("fd", SAMPLE_FD)
                .with("bytes", loading.sampleBytes())
                .with("status", 0)
                .with("path", shard)
                .with("miss_bytes", io > 0 ? loading.sampleBytes() + 4095 & ~4095L : 0)
                .with("io_ns", io);
        timeline.offCpu(main, "io", start + cachedNanos / 2, start + cachedNanos / 2 + io, Math.min(io / 2, 4_000));
        return start + dur;
    }

    /// A sample from a remote store: for an even worker it comes from a socket, an odd one asks again after a time.
    private long fetch(long start, double remoteNanos) {
        if (remoteNanos <= 0) {
            return start;
        }
        long end = start + noise.around(remoteNanos, 0.4);
        if (main.pid() % 4 < 2) {
            timeline.wait(main, "recvfrom", socket, start, end);
        } else {
            timeline.sleep(main, start, end);
        }
        return end;
    }

    void exit(long atNanos) {
        Loader.await(timeline, main, "poll", pipe, freeNanos, atNanos);
        timeline.event("process", "exit", main, Math.max(freeNanos, atNanos), Timeline.NONE)
                .with("status", 0);
    }
}
