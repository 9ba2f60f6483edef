package io.dyber.zernel.record.option;

import java.util.Optional;

/// Something about this machine, the request or the target keeps the recorder from recording. One line for the user.
public final class RecorderException extends RuntimeException {
    private final String message;
    private final String hint;

    public RecorderException(String message, String hint) {
        super(message);
        this.message = message;
        this.hint = hint;
    }

    /// What the user can do about it, one line.
    public Optional<String> hint() {
        return hint.isEmpty() ? Optional.empty() : Optional.of(hint);
    }

    @Override
    public String getMessage() {
        return message;
    }
}
