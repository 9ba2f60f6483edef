package io.dyber.zernel.record.host;

import java.io.IOException;

/// `/proc/PID/stat`, as far as it is used here.
///
/// @param cpuNanos CPU time of all its threads, also of those that have ended
/// @param systemNanos of it, in the kernel
/// @param minorFaults page faults that needed no I/O, of the same threads
/// @param rssBytes memory that is in place, shared or not
record ProcessStat(
        String comm, boolean isEnded, long cpuNanos, long systemNanos, long minorFaults, long threads, long rssBytes) {
    /// Of x86-64, the only architecture so far.
    private static final long PAGE_BYTES = 4096;

    // Places after the name, which may hold blanks and parentheses.
    private static final int STATE = 0;
    private static final int MINOR_FAULTS = 7;
    private static final int USER = 11;
    private static final int SYSTEM = 12;
    private static final int THREADS = 17;
    private static final int PAGES = 21;

    static ProcessStat parse(String line) throws IOException {
        int open = line.indexOf('(');
        int close = line.lastIndexOf(')');
        String[] fields = close < 0 ? new String[0] : line.substring(close + 1).strip().split(" ");
        if (open < 0 || fields.length <= PAGES) {
            throw new IOException("ended while being read");
        }
        return new ProcessStat(
                line.substring(open + 1, close),
                fields[STATE].equals("Z") || fields[STATE].equals("X"),
                (Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM])) * CpuTimes.NANOS_PER_TICK,
                Long.parseLong(fields[SYSTEM]) * CpuTimes.NANOS_PER_TICK,
                Long.parseLong(fields[MINOR_FAULTS]),
                Long.parseLong(fields[THREADS]),
                Long.parseLong(fields[PAGES]) * PAGE_BYTES);
    }
}
