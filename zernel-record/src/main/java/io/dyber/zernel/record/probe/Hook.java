package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.Meaning;

/// A function to probe and what its calls mean.
///
/// @param probe its symbols and what to read of them
/// @param optional whether libraries without it are no reason to worry: versions differ
/// @param vital whether its events go through the ring that a flood of others cannot fill
public record Hook(ProbeSpec probe, Role role, boolean vital, Meaning meaning, boolean optional) {
    /// A function that any version of the library has.
    Hook(Function function, Role role, boolean vital) {
        this(function, role, vital, Meaning.NOTHING, false);
    }

    /// A function whose calls the user asked for.
    public static Hook named(ProbeSpec probe) {
        return new Hook(probe, probe instanceof UsdtProbe ? Role.INSTANT : Role.CALL, false, Meaning.NOTHING, false);
    }

    /// What it probes, as a footer names it.
    public String symbol() {
        return switch (probe) {
            case Function function -> function.symbol();
            case UsdtProbe usdt -> usdt.provider() + ":" + usdt.tracepoint();
        };
    }
}
