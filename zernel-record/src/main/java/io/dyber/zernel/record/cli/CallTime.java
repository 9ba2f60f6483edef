package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.process.ProcessFacts;

/// When the user called this command, to 5 ms: the start of the process, which the launcher script hands on to the
/// JVM. The JVM itself knows only when it was ready, some tenths of a second later.
final class CallTime {
    private static final long NANOS_PER_TICK = 10_000_000;

    private CallTime() {}

    /// On CLOCK_MONOTONIC.
    static long nanos() {
        long now = Clock.monotonicNanos();
        long boot = Clock.bootNanos();
        return ProcessFacts.of((int) ProcessHandle.current().pid())
                .map(self -> now - (boot - self.startedTicks() * NANOS_PER_TICK - NANOS_PER_TICK / 2))
                .orElse(now);
    }
}
