package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What happens to the machine's clocks while it is recorded. Times in the recording are not changed by it: they go on
/// from the time of day at the start, by a clock that nobody sets and that stands still while the machine sleeps.
final class ClockWatch {
    /// Less is the ordinary correction of a clock that goes wrong.
    private static final long WORTH_A_WORD_NANOS = 100_000_000;

    private final Clock clock;
    private final Clock.Source source;
    private Clock.Drift last = new Clock.Drift(0, 0);

    ClockWatch(Clock clock, Clock.Source source) {
        this.clock = clock;
        this.source = source;
    }

    /// What has happened since the last call, for people.
    List<String> notices() {
        Clock.Drift now = clock.drift(source);
        long asleep = now.asleepNanos() - last.asleepNanos();
        long set = now.wallNanos() - last.wallNanos();
        last = now;
        List<String> notices = new ArrayList<>();
        if (asleep > WORTH_A_WORD_NANOS) {
            notices.add("the machine slept for " + seconds(asleep) + "; the times in the recording leave that out");
        }
        if (Math.abs(set) > WORTH_A_WORD_NANOS) {
            notices.add("the time of day was set by " + seconds(set) + "; the recording goes on by that of its start");
        }
        return notices;
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    /// The footer's `zernel.clock`.
    Footer.Clock describe() {
        return FooterFacts.clock(clock, clock.drift(source));
    }
}
