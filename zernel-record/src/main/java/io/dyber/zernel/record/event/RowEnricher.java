package io.dyber.zernel.record.event;

/// Adds to the rows of a function's calls what other calls said. Called by the decoding thread only.
@FunctionalInterface
public interface RowEnricher {
    /// Makes nothing of them.
    RowEnricher NONE = (_, _) -> {};

    /// A call was entered.
    ///
    /// @param first the first value captured at entry
    /// @return a note for [#complete]
    default long entered(int pid, long first) {
        return 0;
    }

    /// A call that was entered has another inside it that is the row of both: what [#entered] took is for that one, which
    /// is told next.
    ///
    /// @param first as it was given to [#entered]
    /// @param note from [#entered]
    default void handOn(int pid, long first, long note) {}

    /// A call whose row is that of the call inside it has ended. This row has what its own records say, and is dropped.
    default void completeCovered(Row row) {}

    /// A call has ended, or is known never to: its row has all that its records say, and may be added to.
    ///
    /// @param note from [#entered]
    void complete(Row row, long note);
}
