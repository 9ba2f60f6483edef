package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.schema.Constant;
import java.util.List;

/// A tracepoint that a library or program carries in its `.note.stapsdt` section (USDT).
///
/// `argN` of a capture is the tracepoint's own N-th argument. An event is an instant: there is no return.
///
/// @param name what the events are called; empty = `provider:tracepoint`
/// @param constants columns with the same value in every event
/// @param library a [LibrarySelector] text
/// @param provider exact name or glob
/// @param tracepoint exact name or glob
public record UsdtProbe(
        String kind, String name, String library, String provider, String tracepoint, List<Capture> captures, List<Constant> constants)
        implements ProbeSpec {
    public UsdtProbe {
        captures = List.copyOf(captures);
        constants = List.copyOf(constants);
        ProbeLimits.check(provider + ":" + tracepoint, captures);
        for (Capture capture : captures) {
            if (capture.atReturn()) {
                throw new IllegalArgumentException("probing '" + provider + ":" + tracepoint + "': column '"
                        + capture.column() + "' is read at return, and a tracepoint does not return");
            }
        }
    }

    public UsdtProbe(
            String kind, String name, String library, String provider, String tracepoint, List<Capture> captures) {
        this(kind, name, library, provider, tracepoint, captures, List.of());
    }

    /// The same for a kind.
    public UsdtProbe ofKind(String other) {
        return new UsdtProbe(other, name, library, provider, tracepoint, captures, constants);
    }
}
