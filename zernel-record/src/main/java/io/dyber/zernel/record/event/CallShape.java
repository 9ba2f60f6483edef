package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.Constant;
import java.util.List;

/// How the records of one probed function become rows.
///
/// @param kind of the rows
/// @param name of the rows, unless the text read on entry names them
/// @param onEnter columns of the captures made on entry, in slot order
/// @param onReturn columns of the captures made on return, in slot order
/// @param textColumn column of the text read on entry, or empty
/// @param sendsEnter whether a record is sent on entry; without, the return record carries the start time
/// @param vital whether its records come through the vital ring
/// @param layer of CUDA, by which calls inside one another are one row
/// @param constants columns that have the same value in every row
/// @param interpretation what is made of its calls
public record CallShape(
        String kind,
        String name,
        Role role,
        List<Slot> onEnter,
        List<Slot> onReturn,
        String textColumn,
        boolean sendsEnter,
        boolean vital,
        Layer layer,
        List<Constant> constants,
        RowEnricher interpretation) {
    public CallShape {
        onEnter = List.copyOf(onEnter);
        onReturn = List.copyOf(onReturn);
        constants = List.copyOf(constants);
    }

    /// A call that is nothing but an event.
    public CallShape(
            String kind,
            String name,
            Role role,
            List<Slot> onEnter,
            List<Slot> onReturn,
            String textColumn,
            boolean sendsEnter) {
        this(
                kind, name, role, onEnter, onReturn, textColumn, sendsEnter, false, Layer.NONE, List.of(),
                RowEnricher.NONE);
    }

    /// What a call means for the rows.
    public enum Role {
        /// The call itself is the event.
        CALL,
        /// The entry is the event, an instant.
        INSTANT,
        /// The call opens a span; slot 0 on return is its handle. No row yet.
        OPEN,
        /// The call closes the span whose handle is slot 0 on entry: the span becomes a row.
        CLOSE,
        /// As CALL, but what it tells is used for other rows and it is none itself.
        FACT,
        /// As FACT, told at the entry.
        INSTANT_FACT;

        /// Whether the return is wanted.
        public boolean returns() {
            return this == CALL || this == OPEN || this == FACT;
        }

        /// Whether its calls are rows.
        public boolean isEvent() {
            return this != FACT && this != INSTANT_FACT;
        }
    }

    /// One 64-bit slot of a record.
    ///
    /// @param column that it fills; empty for a slot that is no column (a handle)
    /// @param width bytes that count, 1, 2, 4 or 8; the upper halves of registers are garbage
    /// @param shift bits below the value, for two that share a register
    /// @param labels what the values 0, 1, ... are called; empty for a number
    public record Slot(String column, int width, boolean signed, int shift, List<String> labels) {
        public Slot {
            labels = List.copyOf(labels);
        }

        public Slot(String column, int width, boolean signed) {
            this(column, width, signed, 0, List.of());
        }

        long value(long raw) {
            int unused = 64 - 8 * width;
            long shifted = raw >>> shift;
            return signed ? shifted << unused >> unused : shifted << unused >>> unused;
        }
    }
}
