package io.dyber.zernel.record.bpf;

/// A place in a library file where a function is probed.
///
/// @param offset in the file
/// @param function its number, which the programs get as the attach cookie
/// @param wantsReturn whether the return is probed too
public record Site(long offset, int function, boolean wantsReturn) {}
