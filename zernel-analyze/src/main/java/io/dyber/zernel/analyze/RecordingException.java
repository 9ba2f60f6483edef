package io.dyber.zernel.analyze;

import org.jspecify.annotations.Nullable;

/// A recording, or a query over it, that cannot be read: a fact about data or environment, not a bug.
///
/// The message is one line, *doing what* `'which'`: *why*; the hint says how to fix it.
public final class RecordingException extends RuntimeException {
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
