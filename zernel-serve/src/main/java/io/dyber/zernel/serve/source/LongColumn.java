package io.dyber.zernel.serve.source;

import java.util.Locale;

/// The numeric columns of a recording that metrics are made of.
public enum LongColumn {
    TS_NS,
    DUR_NS,
    PID,
    TID,
    DEPTH,
    STATUS,
    CHILD_PID,
    BYTES,
    ADDR,
    COUNT,
    DEVICE,
    COMM_ID,
    SEQ,
    RANK,
    NRANKS,
    VALUE;

    /// The column's name in the recording.
    public String column() {
        return name().toLowerCase(Locale.ROOT);
    }
}
