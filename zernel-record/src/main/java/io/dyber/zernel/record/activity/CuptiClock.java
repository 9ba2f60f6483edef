package io.dyber.zernel.record.activity;

/// Turns CUPTI's times into CLOCK_MONOTONIC, by pairs of both that were read together, between the last two of them.
///
/// CUPTI has the time of day, which NTP corrects and anybody may set: between two pairs it is taken to run evenly.
final class CuptiClock {
    private long earlier;
    private long earlierOffset;
    private long later;
    private long laterOffset;
    private long widest;
    private long jump;
    private boolean known;

    /// Takes in a pair.
    ///
    /// @param error by which the two may be apart
    void add(long monotonic, long cupti, long error) {
        long offset = cupti - monotonic;
        if (known) {
            jump = Math.max(jump, Math.abs(offset - laterOffset));
        }
        earlier = known ? later : cupti;
        earlierOffset = known ? laterOffset : offset;
        later = cupti;
        laterOffset = offset;
        widest = Math.max(widest, error);
        known = true;
    }

    boolean isKnown() {
        return known;
    }

    long monotonic(long cupti) {
        long at = Math.clamp(cupti, Math.min(earlier, later), Math.max(earlier, later));
        long span = later - earlier;
        long offset = span <= 0
                ? laterOffset
                : earlierOffset + Math.round((double) (laterOffset - earlierOffset) * (at - earlier) / span);
        return cupti - offset;
    }

    /// By which a time may be off: what a reading took, and what the clocks went apart between two of them.
    long errorNanos() {
        return widest + jump;
    }
}
