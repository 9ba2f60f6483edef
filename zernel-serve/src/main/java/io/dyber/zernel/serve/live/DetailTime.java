package io.dyber.zernel.serve.live;

import io.dyber.zernel.format.Footer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// For how long launches and the like were recorded: all of the time, or windows of it that a recording tells, while it
/// grows each second. A series and a flight recorder tell only those that are in the file to come.
///
/// Not thread-safe.
final class DetailTime {
    private static final long ASKED_AGAIN_NANOS = 900_000_000L;

    private Supplier<Optional<Footer.Detail>> source = Optional::empty;
    private Optional<Footer.Detail> detail = Optional.empty();
    /// Those that were told last, by their start: one that is open is told with another end each time.
    private Map<Long, Footer.DetailWindow> windows = Map.of();
    private long askedNanos;
    private boolean asked;
    private long startNanos = Long.MIN_VALUE;
    private long shiftNanos;
    private long earlierNanos;
    private long reachedNanos;

    void source(Supplier<Optional<Footer.Detail>> newSource) {
        source = newSource;
        asked = false;
    }

    /// The first event of a recording began.
    void start(long nanos) {
        startNanos = nanos;
    }

    /// The recording has ended. The next one may tell windows where this one told none, or the other way round.
    void end() {
        earlierNanos = reachedNanos;
        startNanos = Long.MIN_VALUE;
        detail = Optional.empty();
        windows = Map.of();
        asked = false;
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
        if (startNanos != Long.MIN_VALUE) {
            ask();
            long all = detail.isEmpty() ? nowNanos - startNanos : within(nowNanos - shiftNanos);
            reachedNanos = Math.max(reachedNanos, earlierNanos + all);
        }
        return reachedNanos / 1e9;
    }

    /// Whether every event of a kind is recorded.
    boolean isWhole(String kind) {
        return detail.isEmpty() || !detail.get().kinds().contains(kind);
    }

    private long within(long nowNanos) {
        return windows.values().stream()
                .mapToLong(window -> Math.max(0, Math.min(window.endNs(), nowNanos) - window.startNs()))
                .sum();
    }

    private void ask() {
        long now = System.nanoTime();
        if (!asked || now - askedNanos >= ASKED_AGAIN_NANOS) {
            source.get().ifPresent(this::told);
            asked = true;
            askedNanos = now;
        }
    }

    private void told(Footer.Detail news) {
        detail = Optional.of(news);
        Map<Long, Footer.DetailWindow> before = windows;
        windows = new HashMap<>();
        @Nullable List<Footer.DetailWindow> all = news.windows();
        for (Footer.DetailWindow window : all == null ? List.<Footer.DetailWindow>of() : all) {
            windows.put(window.startNs(), window);
        }
        before.forEach((start, window) -> earlierNanos += windows.containsKey(start) ? 0 : window.endNs() - start);
    }
}
