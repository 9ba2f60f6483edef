package io.dyber.zernel.record.bpf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Probes that were attached together and end together. One thread adds; any thread may take them away.
public final class ProbeLinks {
    private final List<Runnable> closers = new ArrayList<>();
    private volatile boolean gone;

    ProbeLinks() {}

    void add(int link) {
        add(() -> Libc.close(link));
    }

    void add(MemorySegment perfLink) {
        add(() -> LibBpf.destroy(perfLink));
    }

    /// Adds a probe that ends when this is run.
    void add(Runnable closer) {
        closers.add(closer);
    }

    /// Whether they were taken away. Does not wait for a thread that is doing so.
    boolean isGone() {
        return gone;
    }

    /// Takes many away, in threads of their own: for each the kernel waits until no thread runs its program any more, some
    /// tens of milliseconds, and so it waits for all at once. They no longer cost anything before that.
    ///
    /// @return done when all are gone
    public static CompletableFuture<Void> detachAll(List<ProbeLinks> all) {
        return CompletableFuture.allOf(all.stream()
                .map(one -> CompletableFuture.runAsync(one::detach, ProbeLinks::start))
                .toArray(CompletableFuture[]::new));
    }

    private static void start(Runnable task) {
        try {
            Thread.ofPlatform().daemon().name("zernel-detach").start(task);
        } catch (OutOfMemoryError _) {
            task.run(); // the machine has no thread left
        }
    }

    /// Takes the probes away. A second call does nothing but wait for the first: when the recording ends, those of a detail
    /// window may be on their way out.
    public synchronized void detach() {
        closers.forEach(Runnable::run);
        closers.clear();
        gone = true;
    }
}
