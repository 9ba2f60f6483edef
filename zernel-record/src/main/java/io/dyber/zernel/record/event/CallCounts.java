package io.dyber.zernel.record.event;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// What became of the calls of each function on this side of the ring. Written by the decoding thread.
public final class CallCounts {
    /// Returns of calls whose entry was not seen: entered before attaching, or in the parent before a fork.
    long unmatchedReturns;

    /// Records of functions nobody defined: a defect if it ever happens.
    long unknown;

    private final Map<String, Long> added = new ConcurrentHashMap<>();
    private long[] events = new long[64];
    private long[] returned = new long[64];
    private long[] unreturned = new long[64];
    private long[] leftOut = new long[64];
    private long[] covered = new long[64];
    private long[] returnedTwice = new long[64];

    void add(String kind) {
        added.merge(kind, 1L, Long::sum);
    }

    void event(int function) {
        events = grown(events, function);
        events[function]++;
    }

    /// A row that was counted is taken back.
    void leaveOut(int function) {
        passOver(function);
        events[function]--;
    }

    /// A row that was counted is taken back: a call inside this one is the row of both.
    void cover(int function) {
        covered = grown(covered, function);
        covered[function]++;
        events[function]--;
    }

    /// A call is no row of its own: it ended a span, or was to open one and did not return.
    void passOver(int function) {
        leftOut = grown(leftOut, function);
        leftOut[function]++;
    }

    /// A forked child has returned from a call of its parent.
    void returnTwice(int function) {
        returnedTwice = grown(returnedTwice, function);
        returnedTwice[function]++;
        unmatchedReturns++;
    }

    /// A return record came.
    void readReturn(int function) {
        returned = grown(returned, function);
        returned[function]++;
    }

    void unreturned(int function) {
        unreturned = grown(unreturned, function);
        unreturned[function]++;
    }

    private static long[] grown(long[] counts, int function) {
        return function < counts.length ? counts : Arrays.copyOf(counts, Math.max(function + 1, 2 * counts.length));
    }

    /// Rows of a kind that no record brought.
    public long added(String kind) {
        return added.getOrDefault(kind, 0L);
    }

    /// Rows written for the function.
    public long events(int function) {
        return function < events.length ? events[function] : 0;
    }

    /// Return records read; of calls that are sent whole, none.
    public long returns(int function) {
        return function < returned.length ? returned[function] : 0;
    }

    /// Rows among them whose call was not seen to return.
    public long unreturnedRows(int function) {
        return function < unreturned.length ? unreturned[function] : 0;
    }

    /// Calls whose records came and that are no rows: nobody wants them, or they end the rows of other functions.
    public long leftOut(int function) {
        return function < leftOut.length ? leftOut[function] : 0;
    }

    /// Calls whose row is that of a call inside them.
    public long covered(int function) {
        return function < covered.length ? covered[function] : 0;
    }

    /// Returns that are no calls: of forked children from calls of their parents.
    public long returnedTwice(int function) {
        return function < returnedTwice.length ? returnedTwice[function] : 0;
    }

    public long unmatchedReturns() {
        return unmatchedReturns;
    }

    public long unknown() {
        return unknown;
    }
}
