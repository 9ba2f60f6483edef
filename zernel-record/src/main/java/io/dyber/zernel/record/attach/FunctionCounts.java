package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.event.CallCounts;

/// Where the calls of one function went, exactly: `entries = filtered + sampledOut + lost + covered + events`, and for
/// functions whose entry is not sent also `+ noReturn`. While it goes on the difference is [#open], and of what was between
/// two moments `entries + open before = filtered + sampledOut + lost + covered + events + open after`.
///
/// @param entries times the probe was hit
/// @param returns times the return was seen
/// @param events rows written
/// @param lost calls that found the ring full and are in no row
/// @param filtered calls of processes that are not recorded, waits below the threshold, short runs of Python's
///     garbage collector, Python functions not asked for, and calls that end the rows of others, as the exit of a region does
/// @param sampledOut calls that were only counted
/// @param covered calls of the CUDA runtime whose row is that of the call inside them
/// @param noReturn calls that were left another way, were still open at the end or whose return found the ring full;
///     they are rows without a duration when the entry was sent
public record FunctionCounts(
        long entries,
        long returns,
        long events,
        long lost,
        long filtered,
        long sampledOut,
        long covered,
        long noReturn) {
    static final FunctionCounts NONE = new FunctionCounts(0, 0, 0, 0, 0, 0, 0, 0);

    /// Longs in `struct counter` of `bpf/zernel.bpf.h`.
    static final int COUNTERS = 6;

    public static final int HITS = 0;
    static final int FILTERED = 1;
    private static final int LOST = 2;
    /// Of calls that are sent whole.
    private static final int RETURNS = 3;
    private static final int RETURNS_LOST = 4;
    static final int SAMPLED_OUT = 5;

    /// From the kernel's counters and what became of the records.
    ///
    /// @param id of the function
    static FunctionCounts of(long[] kernel, CallCounts counts, int id, boolean sendsEnter) {
        long events = counts.events(id);
        long leftOut = counts.leftOut(id);
        return sendsEnter
                ? new FunctionCounts(
                        kernel[HITS],
                        counts.returns(id) + kernel[RETURNS_LOST],
                        events,
                        kernel[LOST],
                        kernel[FILTERED] + leftOut,
                        kernel[SAMPLED_OUT],
                        counts.covered(id),
                        counts.unreturnedRows(id))
                : new FunctionCounts(
                        kernel[HITS],
                        kernel[RETURNS],
                        events,
                        kernel[RETURNS_LOST],
                        kernel[FILTERED] + leftOut,
                        kernel[SAMPLED_OUT],
                        counts.covered(id),
                        Math.max(
                                0,
                                kernel[HITS]
                                        - kernel[FILTERED]
                                        - kernel[SAMPLED_OUT]
                                        - (kernel[RETURNS] - counts.returnedTwice(id))));
    }

    /// Calls that the kernel has sent, so far: all that it has not left out for a reason, or of those that are sent
    /// whole the ones that returned.
    public static long sent(long[] kernel, boolean sendsEnter) {
        return sendsEnter
                ? kernel[HITS] - kernel[FILTERED] - kernel[SAMPLED_OUT] - kernel[LOST]
                : kernel[RETURNS] - kernel[RETURNS_LOST];
    }

    /// The same while the recording goes on: calls whose entry is not sent and that have not returned may still do so.
    FunctionCounts goingOn(boolean sendsEnter) {
        return sendsEnter
                ? this
                : new FunctionCounts(entries, returns, events, lost, filtered, sampledOut, covered, 0);
    }

    /// Calls that are in none of the sums yet: they run, or their records are on the way. None at the end.
    long open(boolean sendsEnter) {
        return entries - filtered - sampledOut - lost - covered - events - (sendsEnter ? 0 : noReturn);
    }

    /// What came after the other.
    FunctionCounts since(FunctionCounts before) {
        return new FunctionCounts(
                entries - before.entries,
                returns - before.returns,
                events - before.events,
                lost - before.lost,
                filtered - before.filtered,
                sampledOut - before.sampledOut,
                covered - before.covered,
                noReturn - before.noReturn);
    }

    /// Calls that are rows and have no duration because their return found the ring full, so far.
    public static long endsLost(long[] kernel, boolean sendsEnter) {
        return sendsEnter ? kernel[RETURNS_LOST] : 0;
    }

    /// Calls that will be in no row, so far.
    public static long lost(long[] kernel, boolean sendsEnter) {
        return sendsEnter ? kernel[LOST] : kernel[LOST] + kernel[RETURNS_LOST];
    }
}
