package io.dyber.zernel.record.session;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.mark.Mark;
import io.dyber.zernel.record.mark.MarkListener;
import io.dyber.zernel.record.rows.MarkRows;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// What other threads ask of a recording: to stop, to write a flight recorder's file now, to note a mark.
/// All may be asked from any thread, the first two also before the recording has begun.
public final class Controls {
    private final Semaphore wakes = new Semaphore(0);
    private final AtomicBoolean dump = new AtomicBoolean();
    private volatile boolean stopping;
    private volatile String stopReason = "";
    private volatile Optional<MarkRows> marks = Optional.empty();

    public void stop(String reason) {
        stopReason = reason;
        stopping = true;
        wake();
    }

    public void dump() {
        dump.set(true);
        wake();
    }

    /// Names this moment.
    ///
    /// @throws IllegalStateException when nothing is being recorded
    /// @throws IllegalArgumentException when the text is blank or too long
    public void mark(String text) {
        Mark mark = Mark.ofThisThread(Clock.monotonicNanos(), text);
        MarkListener.Reply _ = marks.orElseThrow(
                        () -> new IllegalStateException("marking '" + text + "': the recording has not begun"))
                .add(mark);
    }

    /// From now on there are rows that marks become.
    void openMarks(MarkRows rows) {
        marks = Optional.of(rows);
    }

    /// Has the recording look after what is to be done at once.
    void wake() {
        wakes.release();
    }

    /// Waits until the recording is to stop, there is something to do, or this long.
    ///
    /// @return whether it is to stop
    boolean awaitStop(long millis) throws InterruptedException {
        boolean _ = !stopping && wakes.tryAcquire(millis, TimeUnit.MILLISECONDS);
        wakes.drainPermits();
        return stopping;
    }

    String stopReason() {
        return stopReason;
    }

    /// Tells once that a file was asked for.
    boolean takeDump() {
        return dump.getAndSet(false);
    }
}
