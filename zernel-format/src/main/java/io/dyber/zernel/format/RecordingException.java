package io.dyber.zernel.format;

import org.jspecify.annotations.Nullable;

/// A recording that cannot be read or written, or a query over it: a fact about data or environment, not a bug.
///
/// The message is one line, *doing what* `'which'`: *why*; the hint says how to fix it.
public class RecordingException extends RuntimeException {
    private final @Nullable String hint;

    public RecordingException(String message, @Nullable String hint) {
        super(message);
        this.hint = hint;
    }

    public RecordingException(String message, @Nullable String hint, Throwable cause) {
        super(message, cause);
        this.hint = hint;
    }

    /// What the person who reads the message can do about it, if we know.
    public @Nullable String hint() {
        return hint;
    }
}
