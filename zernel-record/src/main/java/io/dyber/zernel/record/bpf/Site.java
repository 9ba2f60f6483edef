package io.dyber.zernel.record.bpf;

import java.util.List;

/// A place in a library file where a function is probed.
///
/// @param offset in the file
/// @param function its number, which the programs get as the attach cookie
/// @param wantsReturn whether the return is probed too
/// @param semaphore where in the file the 16-bit counter is that switches a tracepoint on; 0 = there is none
/// @param exits where in the file the function is left, if those places are probed instead of its return
public record Site(long offset, int function, boolean wantsReturn, long semaphore, List<Long> exits) {
    public Site {
        exits = List.copyOf(exits);
    }

    /// A function whose return is probed, if any of its end is.
    public Site(long offset, int function, boolean wantsReturn, long semaphore) {
        this(offset, function, wantsReturn, semaphore, List.of());
    }
}
