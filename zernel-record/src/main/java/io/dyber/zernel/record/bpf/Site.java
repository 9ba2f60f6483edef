package io.dyber.zernel.record.bpf;

import java.util.List;

/// A place in a library file where a function is probed.
///
/// @param offset in the file
/// @param function its number, which the programs get as the attach cookie
/// @param end how the end of its calls is seen
/// @param semaphore where in the file the 16-bit counter is that switches a tracepoint on; 0 = there is none
/// @param returns where in the file its `ret`s are, if its exits are probed
/// @param jumps where in the file it jumps to another function, if its exits are probed
public record Site(long offset, int function, End end, long semaphore, List<Long> returns, List<Long> jumps) {
    /// What is probed beside the start of a function.
    public enum End {
        NOT_SEEN,
        RETURN,
        EXITS
    }

    public Site {
        returns = List.copyOf(returns);
        jumps = List.copyOf(jumps);
    }

    /// A function that is not probed where it is left.
    public Site(long offset, int function, End end, long semaphore) {
        this(offset, function, end, semaphore, List.of(), List.of());
    }
}
