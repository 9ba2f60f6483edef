package io.dyber.zernel.record.session;

import io.dyber.zernel.record.bpf.Capabilities;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.Continuing;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Load;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/// Takes in what the kernel side tells of loaded code, and lets held processes go on: when their turn has come, or when they
/// have been held for as long as may be. It has a thread of its own, so that the recorder's other work holds nobody longer.
final class Holding implements AutoCloseable {
    static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int WAIT_MILLIS = 100;
    private static final int SHORT_WAIT_MILLIS = 10;

    private final RingBuffer ring;
    private final Load.Layout layout;
    private final Runnable arrival;
    private final Queue<Load> loads = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::run, "zernel-loads");

    // Guarded by this.
    private final Map<Integer, Long> held = new HashMap<>();
    private final Map<Integer, Long> wentOn = new HashMap<>();
    private Optional<Guardian> guardian = Optional.empty();

    private volatile boolean stopping;
    private volatile boolean ending;
    private volatile Optional<RuntimeException> failure = Optional.empty();

    /// @param arrival called on this one's thread when there are new loads
    Holding(RingBuffer ring, Load.Layout layout, Runnable arrival) {
        this.ring = ring;
        this.layout = layout;
        this.arrival = arrival;
    }

    /// Begins.
    ///
    /// @param guarded whether processes may be held
    synchronized void start(boolean guarded) {
        if (guarded) {
            guardian = Optional.of(Guardian.start());
        }
        thread.setDaemon(true);
        thread.start();
    }

    /// The process whose descendants may be held.
    synchronized void guard(int pid) {
        guardian.ifPresent(one -> one.guard(pid));
    }

    private void run() {
        Capabilities.keepThoseOfRecording();
        boolean _ = RingBuffer.hurry();
        try {
            while (!stopping) {
                ring.await(ending ? SHORT_WAIT_MILLIS : WAIT_MILLIS);
                take();
                continueLate();
            }
        } catch (RuntimeException e) {
            failure = Optional.of(e);
            releaseAll();
            arrival.run();
        }
    }

    /// Why processes are not continued any more; the recording must end then, because the kernel side would go on to hold them.
    Optional<RuntimeException> failure() {
        return failure;
    }

    private void take() {
        int taken = ring.drain((data, at, _) -> add(Load.read(layout, data, at)));
        if (taken > 0) {
            arrival.run();
        }
    }

    private void add(Load load) {
        if (load.held()) {
            synchronized (this) {
                held.put(load.pid(), load.nanos());
                wentOn.remove(load.pid());
                guardian.ifPresent(one -> one.held(load.pid()));
            }
        }
        loads.add(load);
    }

    private synchronized void continueLate() {
        long now = Clock.monotonicNanos();
        for (Map.Entry<Integer, Long> process : Map.copyOf(held).entrySet()) {
            if (now - process.getValue() > MOST_NANOS) {
                wentOn.put(process.getKey(), release(process.getKey()));
            }
        }
    }

    /// The next load, in order.
    Optional<Load> next() {
        return Optional.ofNullable(loads.poll());
    }

    /// Lets a held process go on.
    ///
    /// @return when it did, perhaps earlier because it had been held for too long
    synchronized long goOn(int pid) {
        Long late = wentOn.remove(pid);
        return late != null ? late : held.containsKey(pid) ? release(pid) : Clock.monotonicNanos();
    }

    private long release(int pid) {
        held.remove(pid);
        long now = Clock.monotonicNanos();
        boolean _ = Continuing.of(pid);
        guardian.ifPresent(one -> one.freed(pid));
        return now;
    }

    /// Will be closed soon: from now on it does not wait long for loads.
    void end() {
        ending = true;
    }

    /// Lets everybody go on. Nobody may be stopped any more.
    @Override
    public void close() {
        stopping = true;
        try {
            thread.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        try {
            take();
        } finally {
            releaseAll();
        }
    }

    private synchronized void releaseAll() {
        Map.copyOf(held).keySet().forEach(this::release);
        guardian.ifPresent(Guardian::close);
        guardian = Optional.empty();
    }
}
