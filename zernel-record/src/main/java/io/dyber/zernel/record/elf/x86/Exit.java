package io.dyber.zernel.record.elf.x86;

/// A place where a call of a function ends.
///
/// @param at bytes after the function's start
/// @param height bytes that lie on the stack there above the return address
public record Exit(int at, int height) {}
