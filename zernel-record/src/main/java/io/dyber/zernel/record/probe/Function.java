package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.Glob;
import io.dyber.zernel.record.schema.Constant;
import java.util.List;

/// Functions to record each call of: one symbol, or all that match a glob, in every library that matches.
///
/// @param kind the event kind of its calls
/// @param name what the events are called; empty = the symbol. A captured `name` column wins over both
/// @param library a [LibrarySelector] text
/// @param constants columns with the same value in every event
/// @param symbol a symbol of `.dynsym` or `.symtab`, possibly `name@VERSION`, or a glob
public record Function(String kind, String name, String library, String symbol, List<Capture> captures, List<Constant> constants)
        implements ProbeSpec {
    public Function {
        captures = List.copyOf(captures);
        constants = List.copyOf(constants);
        ProbeLimits.check(symbol, captures);
    }

    public Function(String kind, String name, String library, String symbol, List<Capture> captures) {
        this(kind, name, library, symbol, captures, List.of());
    }

    /// The same arguments of another symbol.
    Function ofSymbol(String other) {
        return new Function(kind, name, library, other, captures, constants);
    }

    /// The same for a kind.
    public Function ofKind(String other) {
        return new Function(other, name, library, symbol, captures, constants);
    }

    /// Whether the symbol is a pattern that may match several functions.
    public boolean isGlob() {
        return Glob.isGlob(symbol);
    }
}
