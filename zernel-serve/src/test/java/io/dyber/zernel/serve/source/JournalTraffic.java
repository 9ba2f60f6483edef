package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/// A journal that is written as a recorder does: a batch every 250 ms, of events of the time since the last.
public final class JournalTraffic implements AutoCloseable {
    private static final long BATCH_NANOS = 250_000_000;
    private static final int EVENTS = 500;
    private static final List<String> KINDS = List.of("io", "wait", "call", "cuda_launch", "cuda_sync", "backward", "nccl");

    private final WrittenJournal journal;
    private final TreeMap<Long, Long> flushes = new TreeMap<>();
    private final Thread writer = new Thread(this::run, "traffic");
    private volatile boolean closed;

    /// @param live the folder of the recording
    public JournalTraffic(Path live) throws IOException {
        this.journal = new WrittenJournal(live.resolve("journal-000000.arrows"), 0);
    }

    public void start() {
        writer.start();
    }

    /// `System.nanoTime()` by the events that were in the journal then.
    public synchronized Map<Long, Long> flushes() {
        return new TreeMap<>(flushes);
    }

    private void run() {
        long events = 0;
        try {
            for (long due = System.nanoTime(); !closed; due += BATCH_NANOS) {
                LockSupport.parkNanos(due - System.nanoTime());
                long now = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
                for (int i = 0; i < EVENTS; i++) {
                    long pid = 4000L + i % 40;
                    journal.add(KINDS.get(i % KINDS.size()), "read", now - BATCH_NANOS + i * BATCH_NANOS / EVENTS, 50_000, pid);
                }
                journal.flush();
                events += EVENTS;
                synchronized (this) {
                    flushes.put(events, System.nanoTime());
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        try {
            writer.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        journal.close();
    }
}
