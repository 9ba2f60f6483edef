package io.dyber.zernel.serve.watch;

import java.time.Duration;

/// How long to wait before the next try: 1 s, doubling to 30 s.
public final class Backoff {
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private Duration next = FIRST;

    /// The wait before the next try.
    public Duration next() {
        Duration wait = next;
        next = wait.multipliedBy(2).compareTo(LONGEST) > 0 ? LONGEST : wait.multipliedBy(2);
        return wait;
    }

    /// A try has worked.
    public void reset() {
        next = FIRST;
    }
}
