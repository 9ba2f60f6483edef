package io.dyber.zernel.analyze.export;

import java.io.Closeable;
import java.io.IOException;

/// A file format for slices and counters on tracks.
///
/// The slices of a track come in the order of their begin and are properly nested; those of different tracks come in
/// any order. A slice ends with [#end] in the order of nesting; an instant has no end.
public sealed interface TraceFormat extends Closeable permits PerfettoTrace, ChromeTrace, FoldedStacks {
    /// Announces a track, after its parent and before anything on it.
    void track(Track track) throws IOException;

    void begin(Track track, Slice slice) throws IOException;

    void end(Track track, long nanos) throws IOException;

    void counter(Track track, long nanos, double value) throws IOException;
}
