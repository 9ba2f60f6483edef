package io.dyber.zernel.record.activity;

/// When the last calls that may have launched something began, by their numbers, which grow from call to call. A graph's launch
/// stands for many kernels, so none is taken away; the oldest give way.
final class Launches {
    private static final int PLACES = 1 << 17;

    private final int[] calls = new int[PLACES];
    private final long[] starts = new long[PLACES];

    /// Takes in a call. A call of the driver inside one of the runtime has the same number, and began later.
    void add(int call, long start) {
        int place = call & (PLACES - 1);
        starts[place] = calls[place] == call && starts[place] != 0 ? Math.min(starts[place], start) : start;
        calls[place] = call;
    }

    /// When it began; 0 when that is not known.
    long start(int call) {
        int place = call & (PLACES - 1);
        return calls[place] == call ? starts[place] : 0;
    }
}
