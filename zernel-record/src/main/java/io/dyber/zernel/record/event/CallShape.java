package io.dyber.zernel.record.event;

import java.util.List;

/// How the records of one probed function become rows.
///
/// @param kind of the rows
/// @param name of the rows, unless the text read on entry names them
/// @param onEnter columns of the captures made on entry, in slot order
/// @param onReturn columns of the captures made on return, in slot order
/// @param textColumn column of the text read on entry, or empty
/// @param sendsEnter whether a record is sent on entry; without, the return record carries the start time
public record CallShape(
        String kind,
        String name,
        Role role,
        List<Slot> onEnter,
        List<Slot> onReturn,
        String textColumn,
        boolean sendsEnter) {

    /// What a call means for the rows.
    public enum Role {
        /// The call itself is the event.
        CALL,
        /// The entry is the event, an instant.
        INSTANT,
        /// The call opens a span; slot 0 on return is its handle. No row yet.
        OPEN,
        /// The call closes the span whose handle is slot 0 on entry: the span becomes a row.
        CLOSE
    }

    /// One 64-bit slot of a record.
    ///
    /// @param column that it fills; empty for a slot that is no column (a handle)
    /// @param width bytes that count, 1, 2, 4 or 8; the upper halves of registers are garbage
    public record Slot(String column, int width, boolean signed) {
        long value(long raw) {
            int unused = 64 - 8 * width;
            return signed ? raw << unused >> unused : raw << unused >>> unused;
        }
    }
}
