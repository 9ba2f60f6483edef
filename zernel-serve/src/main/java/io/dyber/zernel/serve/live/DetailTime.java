package io.dyber.zernel.serve.live;

import io.dyber.zernel.format.Footer;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// For how long launches and the like were recorded: all of the time, or windows of it that a recording tells, while it
/// grows each second.
///
/// Not thread-safe.
final class DetailTime {
    private static final long ASKED_AGAIN_NANOS = 900_000_000L;

    private Supplier<Optional<Footer.Detail>> source = Optional::empty;
    private Optional<Footer.Detail> detail = Optional.empty();
    private long askedNanos;
    private boolean asked;
    private long startNanos;
    private long shiftNanos;
    private long earlierNanos;
    private long reachedNanos;

    void source(Supplier<Optional<Footer.Detail>> windows) {
        source = windows;
        asked = false;
    }

    /// The first event began.
    void start(long nanos) {
        startNanos = nanos;
    }

    /// A replay begins anew, its events by so much later.
    void startOver(long shift) {
        if (shift != shiftNanos) {
            earlierNanos += within(Long.MAX_VALUE);
            shiftNanos = shift;
        }
    }

    /// How long until a moment of event time, which never gets less.
    double secondsUntil(long nowNanos) {
        ask();
        long all = detail.isEmpty() ? nowNanos - startNanos : earlierNanos + within(nowNanos - shiftNanos);
        reachedNanos = Math.max(reachedNanos, all);
        return reachedNanos / 1e9;
    }

    /// Whether every event of a kind is recorded.
    boolean isWhole(String kind) {
        return detail.isEmpty() || !detail.get().kinds().contains(kind);
    }

    private long within(long nowNanos) {
        @Nullable List<Footer.DetailWindow> windows = detail.map(Footer.Detail::windows).orElse(null);
        long sum = 0;
        for (Footer.DetailWindow window : windows == null ? List.<Footer.DetailWindow>of() : windows) {
            sum += Math.max(0, Math.min(window.endNs(), nowNanos) - window.startNs());
        }
        return sum;
    }

    private void ask() {
        long now = System.nanoTime();
        if (!asked || now - askedNanos >= ASKED_AGAIN_NANOS) {
            detail = source.get();
            asked = true;
            askedNanos = now;
        }
    }
}
