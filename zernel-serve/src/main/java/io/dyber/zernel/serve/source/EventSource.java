package io.dyber.zernel.serve.source;

import io.dyber.zernel.format.Footer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;

/// Where events come from: a finished recording, one that is still being written, a simulation. Hands them out in
/// batches, each in the order of the events' start, at the moment they are due.
///
/// One thread calls [#next]; the other methods may be called by any.
public interface EventSource extends AutoCloseable {
    /// Waits until the next batch is due; empty when the source has ended or was closed. A batch may have no rows:
    /// then only time has passed.
    Optional<EventBatch> next() throws IOException, InterruptedException;

    /// After [#next] gave nothing: waits until there is more after all, because a client sent a replay back; false when
    /// there never will be.
    default boolean awaitMore() throws InterruptedException {
        return false;
    }

    /// The event time reached, in nanoseconds since the epoch.
    long nowNanos();

    SourceState state();

    /// What recording cost the recorded threads, as a share of one CPU; known when the recording is finished.
    default OptionalDouble overheadShare() {
        return OptionalDouble.empty();
    }

    /// In which windows of time launches and the like were recorded, so far; empty where that is all the time.
    default Optional<Footer.Detail> detail() {
        return Optional.empty();
    }

    /// What the events are about, so far.
    default Facts facts() {
        return Facts.NONE;
    }

    /// The controls, where there is something to control.
    default Optional<Playback> playback() {
        return Optional.empty();
    }

    /// The recording that events come from now.
    Optional<Recorded> recorded();

    /// The source of that recording, where this one opens others: one that begins later may have the same name.
    default Optional<EventSource> current() {
        return Optional.of(this);
    }

    /// A recording that can be opened.
    ///
    /// @param growing it is still being written
    /// @param untilNanos the event time at which the source leaves it, or [Long#MAX_VALUE]
    record Recorded(Path path, boolean growing, long untilNanos) {
        /// All of it.
        public Recorded(Path path, boolean growing) {
            this(path, growing, Long.MAX_VALUE);
        }
    }

    /// Ends the source: a waiting [#next] returns soon.
    @Override
    void close();
}
