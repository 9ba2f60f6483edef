package io.dyber.zernel.record.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// Probes that several threads take away.
final class ProbeLinksTest {
    private final List<Integer> closed = new CopyOnWriteArrayList<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch mayClose = new CountDownLatch(1);
    private final ProbeLinks links = new ProbeLinks();

    @Test
    void twoThreadsThatDetachCloseEachLinkOnce() throws InterruptedException {
        links.add(() -> close(7));
        links.add(() -> close(8));
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CompletableFuture<Void> first = ProbeLinks.detachAll(List.of(links));
        closing.await();

        Thread second = Thread.ofPlatform().uncaughtExceptionHandler((_, e) -> failure.set(e)).start(links::detach);
        while (second.getState() == Thread.State.NEW || second.getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
        }
        mayClose.countDown();
        second.join();
        first.join();

        assertThat(failure).hasNullValue();
        assertThat(closed).containsExactly(7, 8);
        assertThat(links.isGone()).isTrue();
    }

    @Test
    void linksThatAreBeingClosedAreNotGoneAndKeepNobodyWaiting() throws InterruptedException {
        links.add(() -> close(7));
        CompletableFuture<Void> detached = ProbeLinks.detachAll(List.of(links));
        closing.await();

        assertThat(links.isGone()).isFalse();

        mayClose.countDown();
        detached.join();
        assertThat(links.isGone()).isTrue();
    }

    private void close(int link) {
        closing.countDown();
        try {
            mayClose.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        closed.add(link);
    }
}
