package io.dyber.zernel.record.bpf;

/// A place in a library file where a function is probed.
///
/// @param offset in the file
/// @param function its number, which the programs get as the attach cookie
/// @param semaphore where in the file the 16-bit counter is that switches a tracepoint on; 0 = there is none
/// @param wantsReturn whether the return is probed too
public record Site(long offset, int function, boolean wantsReturn, long semaphore) {}
