package io.dyber.zernel.serve.source;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Turns event time into waiting: each moment of the recording is due when the clock on the wall has moved on by as
/// much since the first wait, divided by the speed.
final class Pacer {
    private final Speed speed;
    private final long startEventNanos;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile long reachedNanos;
    private volatile long startWallNanos;
    private volatile boolean started;

    /// @param startEventNanos the moment of the recording that is now
    Pacer(Speed speed, long startEventNanos) {
        this.speed = speed;
        this.startEventNanos = startEventNanos;
        this.reachedNanos = startEventNanos;
    }

    Speed speed() {
        return speed;
    }

    /// Waits until `eventNanos` is due; false when stopped instead.
    boolean await(long eventNanos) throws InterruptedException {
        if (!started) {
            startWallNanos = System.nanoTime();
            started = true;
        }
        if (!speed.isMax()) {
            long due = startWallNanos + (long) ((eventNanos - startEventNanos) / speed.factor());
            if (stopped.await(due - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return false;
            }
        }
        reachedNanos = eventNanos;
        return !isStopped();
    }

    /// The event time that is now, also while waiting.
    long nowNanos() {
        if (!started || speed.isMax()) {
            return reachedNanos;
        }
        return startEventNanos + (long) ((System.nanoTime() - startWallNanos) * speed.factor());
    }

    void stop() {
        stopped.countDown();
    }

    boolean isStopped() {
        return stopped.getCount() == 0;
    }
}
