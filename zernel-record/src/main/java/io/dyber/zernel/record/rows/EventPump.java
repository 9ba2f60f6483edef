package io.dyber.zernel.record.rows;

import io.dyber.zernel.record.bpf.Capabilities;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// The one thread that moves events from the rings to the file.
///
/// It looks every 10 ms instead of being woken, or every 20 ms while little comes: a wake-up would cost the recorded job more
/// than the probe itself. While a ring fills faster than that it does not rest. It owns the decoder; others reach it through [#later].
public final class EventPump {
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /// It is quiet when a ring has filled by less than this part of it between two looks.
    private static final int QUIET_PART = 256;
    private static final long FLUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /// So much of the bulk ring is decoded between two looks at the vital one, in a millisecond or two.
    private static final long TURN_BYTES = 1 << 20;

    private final RingBuffer vital;
    private final RingBuffer bulk;
    private final Decoder decoder;
    private final Queue<Consumer<Decoder>> tasks = new ConcurrentLinkedQueue<>();
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::run, "zernel-drain");
    private volatile boolean stopping;
    private volatile Optional<RuntimeException> failure = Optional.empty();

    public EventPump(RingBuffer vital, RingBuffer bulk, Decoder decoder) {
        this.vital = vital;
        this.bulk = bulk;
        this.decoder = decoder;
    }

    public void start() {
        thread.start();
    }

    /// Runs on the pump's thread before it decodes any event that is sent after this call.
    public void later(Consumer<Decoder> task) {
        tasks.add(task);
    }

    /// Runs on the pump's thread once it has decoded every event that was sent before this call.
    public void onceDecoded(Consumer<Decoder> task) {
        waiting.add(new Waiting(vital.producerPosition(), bulk.producerPosition(), task));
    }

    /// A task and how far both rings have to be read before it.
    private record Waiting(long vitalEnd, long bulkEnd, Consumer<Decoder> task) {}

    private void runThoseWaiting() {
        for (Waiting next = waiting.peek(); next != null && isDecoded(next); next = waiting.peek()) {
            waiting.poll().task().accept(decoder);
        }
    }

    private boolean isDecoded(Waiting one) {
        return vital.consumerPosition() >= one.vitalEnd() && bulk.consumerPosition() >= one.bulkEnd();
    }

    /// What ended the pump early, if anything did.
    public Optional<RuntimeException> failure() {
        return failure;
    }

    /// Decodes what is in the rings, closes what is open and ends. Nothing may be sending any more.
    public void finish() {
        stopping = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        Capabilities.keepThoseOfRecording();
        boolean _ = RingBuffer.hurry();
        try {
            long flushed = System.nanoTime();
            while (!stopping) {
                long before = vital.consumerPosition() + bulk.consumerPosition();
                drain();
                long moved = vital.consumerPosition() + bulk.consumerPosition() - before;
                if (System.nanoTime() - flushed >= FLUSH_NANOS) {
                    decoder.flush();
                    flushed = System.nanoTime();
                }
                if (!isFilling(vital) && !isFilling(bulk)) {
                    boolean quiet = moved < Math.min(vital.size(), bulk.size()) / QUIET_PART;
                    LockSupport.parkNanos(quiet ? QUIET_NANOS : INTERVAL_NANOS);
                }
            }
            drain();
            decoder.finish();
        } catch (RuntimeException e) {
            failure = Optional.of(e);
        } catch (OutOfMemoryError _) {
            failure = Optional.of(MemoryFull.exception());
        } catch (Throwable e) {
            // Whoever waits for the pump looks at nothing else.
            failure = Optional.of(new IllegalStateException("moving events to the file", e));
        }
    }

    /// Whether more than a quarter has come during the last drain.
    private static boolean isFilling(RingBuffer ring) {
        return ring.producerPosition() - ring.consumerPosition() > ring.size() / 4;
    }

    /// Takes turns, so that a flood in the bulk ring does not leave the vital one to fill.
    private void drain() {
        long end = bulk.producerPosition();
        long before;
        do {
            before = bulk.consumerPosition();
            turn(Math.min(end, before + TURN_BYTES));
        } while (bulk.consumerPosition() < end && bulk.consumerPosition() > before);
    }

    /// The bulk position is read before the vital one, so that a definition or a process event is always decoded before
    /// the calls that followed it. Where a vital record is still being written, they wait for it while there is room.
    private void turn(long bulkEnd) {
        long vitalEnd = vital.producerPosition();
        for (Consumer<Decoder> task = tasks.poll(); task != null; task = tasks.poll()) {
            task.accept(decoder);
        }
        vital.drain(vitalEnd, (data, at, _) -> decoder.read(data, at));
        if (vital.consumerPosition() >= vitalEnd || isFilling(bulk) || stopping) {
            bulk.drain(bulkEnd, (data, at, _) -> decoder.read(data, at));
        }
        runThoseWaiting();
    }
}
