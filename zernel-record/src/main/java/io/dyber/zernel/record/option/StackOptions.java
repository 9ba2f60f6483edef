package io.dyber.zernel.record.option;

import java.time.Duration;

/// Of what a stack is taken.
///
/// @param blocked events that blocked their thread for so long have one; zero for none
/// @param samples how often a second each CPU is looked at; 0 for never
public record StackOptions(Duration blocked, int samples) {
    public static final StackOptions DEFAULT = new StackOptions(Duration.ofMillis(1), 49);
    public static final StackOptions OFF = new StackOptions(Duration.ZERO, 0);
    public static final int MOST_SAMPLES = 999;

    /// Whether none is taken at all.
    public boolean isOff() {
        return blocked.isZero() && samples == 0;
    }

    /// What a sample stands for; 0 where there are none.
    public long periodNanos() {
        return samples == 0 ? 0 : 1_000_000_000L / samples;
    }
}
