package io.dyber.zernel.analyze.export;

import org.jspecify.annotations.Nullable;

/// One row of a trace viewer.
///
/// @param id unique in the trace, above 0
/// @param parent the track it is shown under; null for a process
/// @param pid the process, unique over all recordings
/// @param tid the thread, or a number that no thread of the process has
/// @param order place among its siblings
/// @param note what is told beside the name: the command line of a process, the unit of a counter
record Track(long id, @Nullable Track parent, Type type, String name, long pid, long tid, int order, String note) {
    enum Type {
        PROCESS,
        THREAD,
        /// Slices that are no thread's calls: steps, phases, calls that overlap others of their thread, GPU streams.
        SLICES,
        COUNTER
    }
}
