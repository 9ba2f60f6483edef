package io.dyber.zernel.record.bpf;

import java.util.List;

/// A place in a library file where a function is probed.
///
/// @param offset in the file
/// @param function its number
/// @param height bytes that lie on the stack there above the return address, where a function is left
/// @param end how the end of its calls is seen
/// @param semaphore where in the file the 16-bit counter is that switches a tracepoint on; 0 = there is none
/// @param returns its `ret`s or what is passed before them, if its exits are probed
/// @param jumps where in the file it jumps to another function, if its exits are probed
public record Site(
        long offset, int function, End end, long semaphore, int height, List<Exit> returns, List<Long> jumps) {
    /// What is probed beside the start of a function.
    public enum End {
        NOT_SEEN,
        RETURN,
        EXITS
    }

    /// A place where a function is left.
    ///
    /// @param offset in the file
    /// @param height as that of a [Site]
    public record Exit(long offset, int height) {}

    public Site {
        returns = List.copyOf(returns);
        jumps = List.copyOf(jumps);
    }

    /// A function that is not probed where it is left.
    public Site(long offset, int function, End end, long semaphore) {
        this(offset, function, end, semaphore, 0, List.of(), List.of());
    }

    /// A function that is probed where it is left.
    public Site(long offset, int function, End end, List<Exit> returns, List<Long> jumps) {
        this(offset, function, end, 0, 0, returns, jumps);
    }

    /// What the programs get when the probe is hit: the function's number, and above its 32 bits the height.
    long cookie() {
        return (long) height << Integer.SIZE | function;
    }
}
