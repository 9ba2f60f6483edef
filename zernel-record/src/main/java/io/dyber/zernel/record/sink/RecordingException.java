package io.dyber.zernel.record.sink;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/// A recording that cannot be created, continued, finished or recovered. The message is one line for the user.
public final class RecordingException extends RuntimeException {
    /// What stands in the way, for callers that react differently to each.
    public enum Reason {
        /// A live recorder writes this output.
        IN_USE,
        /// A crashed recording with this name waits for `zernel-record recover`.
        UNFINISHED,
        /// The output exists and may not be replaced.
        EXISTS,
        /// There is no such recording.
        MISSING,
        /// The disk or the quota is full; everything written before is kept.
        NO_SPACE,
        /// The folder being written was removed under the recorder.
        GONE,
        /// The user may not write there.
        DENIED,
        /// What is on disk is not what a recorder wrote.
        DAMAGED,
        /// Any other input/output error.
        IO
    }

    private final Reason reason;
    private final String hint;

    RecordingException(Reason reason, String message, String hint) {
        super(message);
        this.reason = reason;
        this.hint = hint;
    }

    RecordingException(Reason reason, String message, String hint, Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.hint = hint;
    }

    /// Names an input/output error the way the user would.
    static RecordingException of(String doing, IOException e) {
        String detail = Objects.requireNonNullElse(
                e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : e.getMessage(), "");
        if (detail.contains("No space left") || detail.contains("quota exceeded")) {
            return new RecordingException(Reason.NO_SPACE, doing + ": no space left on the disk", "", e);
        }
        return switch (e) {
            case NoSuchFileException _ -> new RecordingException(Reason.GONE, doing + ": no such folder", "", e);
            case AccessDeniedException _ ->
                    new RecordingException(Reason.DENIED, doing + ": permission denied", "", e);
            default -> {
                boolean readOnly = detail.contains("Read-only");
                String why = detail.isEmpty() ? e.getClass().getSimpleName() : detail;
                yield new RecordingException(readOnly ? Reason.DENIED : Reason.IO, doing + ": " + lower(why), "", e);
            }
        };
    }

    private static String lower(String text) {
        return text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
    }

    public Reason reason() {
        return reason;
    }

    /// What the user can do about it, one line.
    public Optional<String> hint() {
        return hint.isEmpty() ? Optional.empty() : Optional.of(hint);
    }
}
