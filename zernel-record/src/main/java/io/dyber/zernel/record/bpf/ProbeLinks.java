package io.dyber.zernel.record.bpf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Probes that were attached together and end together. Not thread-safe.
public final class ProbeLinks {
    private final List<Integer> links = new ArrayList<>();
    private final List<MemorySegment> perfLinks = new ArrayList<>();

    ProbeLinks() {}

    void add(int link) {
        links.add(link);
    }

    void add(MemorySegment perfLink) {
        perfLinks.add(perfLink);
    }

    /// Whether they were taken away.
    boolean isEmpty() {
        return links.isEmpty() && perfLinks.isEmpty();
    }

    /// Takes many away, in threads of their own: for each the kernel waits until no thread runs its program any more, some
    /// tens of milliseconds, and so it waits for all at once. They no longer cost anything before that.
    ///
    /// @return done when all are gone; till then they are nobody else's
    public static CompletableFuture<Void> detachAll(List<ProbeLinks> all) {
        return CompletableFuture.allOf(all.stream()
                .map(one -> CompletableFuture.runAsync(
                        one::detach,
                        task -> Thread.ofPlatform().daemon().name("zernel-detach").start(task)))
                .toArray(CompletableFuture[]::new));
    }

    /// Takes the probes away; a second call does nothing.
    public void detach() {
        links.forEach(Libc::close);
        links.clear();
        perfLinks.forEach(LibBpf::destroy);
        perfLinks.clear();
    }
}
