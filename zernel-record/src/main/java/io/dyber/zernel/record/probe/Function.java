package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.Glob;
import java.util.List;

/// Functions to record each call of: one symbol, or all that match a glob, in every library that matches.
///
/// @param kind the event kind of its calls
/// @param name what the events are called; empty = the symbol. A captured `name` column wins over both
/// @param library a [LibrarySelector] text
/// @param symbol a symbol of `.dynsym` or `.symtab`, possibly `name@VERSION`, or a glob
public record Function(String kind, String name, String library, String symbol, List<Capture> captures)
        implements ProbeSpec {
    public Function {
        captures = List.copyOf(captures);
        ProbeLimits.check(symbol, captures);
    }

    /// Whether the symbol is a pattern that may match several functions.
    public boolean isGlob() {
        return Glob.isGlob(symbol);
    }
}
