package io.dyber.zernel.serve.source;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/// Turns event time into waiting: each moment of the recording is due when the clock on the wall has moved on by as
/// much, divided by the speed. What lies before a moment that was jumped to is due at once.
///
/// One thread waits; any thread pauses, changes the speed, jumps or stops.
final class Pacer {
    private Speed speed;
    private boolean paused;
    private boolean stopped;
    private OptionalLong jump = OptionalLong.empty();

    /// While this is set, all events up to [#hurryUntil] are due, and time stands still behind it.
    private boolean hurrying;

    private long hurryUntil;
    private long reachedNanos;
    private long anchorEventNanos;
    private long anchorWallNanos;

    /// @param startEventNanos the moment of the recording that is now
    Pacer(Speed speed, long startEventNanos) {
        this.speed = speed;
        this.reachedNanos = startEventNanos;
        hurryTo(startEventNanos);
    }

    /// Waits until `eventNanos` is due; false when stopped or sent elsewhere instead.
    synchronized boolean await(long eventNanos) throws InterruptedException {
        if (hurrying && eventNanos > hurryUntil) {
            hurrying = false;
            anchor(hurryUntil);
        }
        while (!stopped && jump.isEmpty()) {
            long left = nanosLeft(eventNanos);
            if (left <= 0) {
                reachedNanos = eventNanos;
                return true;
            }
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, 1_000_000));
        }
        return false;
    }

    private long nanosLeft(long eventNanos) {
        if (hurrying) {
            return 0;
        }
        if (paused) {
            return Long.MAX_VALUE;
        }
        return speed.isMax()
                ? 0
                : anchorWallNanos + (long) ((eventNanos - anchorEventNanos) / speed.factor()) - System.nanoTime();
    }

    /// The event time that is now, also while waiting.
    synchronized long nowNanos() {
        if (hurrying || (speed.isMax() && !paused)) {
            return reachedNanos;
        }
        return paused
                ? anchorEventNanos
                : anchorEventNanos + (long) ((System.nanoTime() - anchorWallNanos) * speed.factor());
    }

    private void anchor(long eventNanos) {
        anchorEventNanos = eventNanos;
        anchorWallNanos = System.nanoTime();
    }

    synchronized Speed speed() {
        return speed;
    }

    synchronized void speed(Speed next) {
        anchor(nowNanos());
        speed = next;
        notifyAll();
    }

    synchronized boolean isPaused() {
        return paused;
    }

    synchronized void pause(boolean pause) {
        anchor(nowNanos());
        paused = pause;
        notifyAll();
    }

    /// Asks the waiting thread to go elsewhere, which it learns from [#takeJump].
    synchronized void jump(long target) {
        jump = OptionalLong.of(target);
        notifyAll();
    }

    /// Where it was asked to go since it was asked last.
    synchronized OptionalLong takeJump() {
        OptionalLong taken = jump;
        jump = OptionalLong.empty();
        return taken;
    }

    /// Waits for a jump; false when stopped instead.
    synchronized boolean awaitJump() throws InterruptedException {
        while (!stopped && jump.isEmpty()) {
            wait();
        }
        return !stopped;
    }

    /// Makes everything up to `eventNanos` due.
    synchronized void hurryTo(long eventNanos) {
        hurrying = true;
        hurryUntil = eventNanos;
    }

    /// Begins again at `eventNanos`.
    synchronized void rewind(long eventNanos) {
        reachedNanos = eventNanos;
        hurryTo(eventNanos);
    }

    synchronized boolean isHurrying() {
        return hurrying;
    }

    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    synchronized boolean isStopped() {
        return stopped;
    }
}
