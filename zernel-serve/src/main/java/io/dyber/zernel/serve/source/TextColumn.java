package io.dyber.zernel.serve.source;

import java.util.Locale;

/// The text columns of a recording that metrics are made of.
public enum TextColumn {
    KIND,
    NAME,
    COMM,
    COPY_KIND,
    /// Of `gpu_sample` only: a MIG instance.
    OBJECT;

    /// The column's name in the recording.
    public String column() {
        return name().toLowerCase(Locale.ROOT);
    }
}
