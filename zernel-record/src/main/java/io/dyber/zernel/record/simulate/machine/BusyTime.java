package io.dyber.zernel.record.simulate.machine;

import java.util.Arrays;

/// When a stream ran something, in ascending order.
public final class BusyTime {
    private final boolean kept;
    private long[] borders;
    private int used;

    public BusyTime() {
        this(true);
    }

    /// @param kept whether it will be asked for
    BusyTime(boolean kept) {
        this.kept = kept;
        this.borders = new long[kept ? 256 : 0];
    }

    public void add(long start, long end) {
        if (!kept) {
            return;
        }
        if (used > 0 && start <= borders[used - 1]) {
            borders[used - 1] = Math.max(borders[used - 1], end);
            return;
        }
        if (used + 2 > borders.length) {
            borders = Arrays.copyOf(borders, 2 * borders.length);
        }
        borders[used++] = start;
        borders[used++] = end;
    }

    /// Nanoseconds in which this or the other was busy, for each period from `from` on.
    public long[] together(BusyTime other, long from, long period, int periods) {
        BusyTime union = new BusyTime();
        int mine = 0;
        int theirs = 0;
        while (mine < used || theirs < other.used) {
            if (theirs == other.used || (mine < used && borders[mine] <= other.borders[theirs])) {
                union.add(borders[mine], borders[mine + 1]);
                mine += 2;
            } else {
                union.add(other.borders[theirs], other.borders[theirs + 1]);
                theirs += 2;
            }
        }
        return union.sums(from, period, periods);
    }

    private long[] sums(long from, long period, int periods) {
        long[] sums = new long[periods];
        for (int i = 0; i < used; i += 2) {
            long at = Math.max(borders[i], from);
            while (at < borders[i + 1] && (at - from) / period < periods) {
                int index = (int) ((at - from) / period);
                long end = Math.min(borders[i + 1], from + (index + 1) * period);
                sums[index] += end - at;
                at = end;
            }
        }
        return sums;
    }
}
