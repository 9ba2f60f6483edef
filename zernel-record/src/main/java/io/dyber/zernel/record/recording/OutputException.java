package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Locale;
import java.util.Objects;

/// A recording that cannot be created, continued, finished or recovered, and what stands in the way.
public final class OutputException extends RecordingException {
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

    /// @param hint empty when there is none
    OutputException(Reason reason, String message, String hint) {
        super(message, hint.isEmpty() ? null : hint);
        this.reason = reason;
    }

    OutputException(Reason reason, String message, String hint, Throwable cause) {
        super(message, hint.isEmpty() ? null : hint, cause);
        this.reason = reason;
    }

    /// Names an input/output error the way the user would.
    public static OutputException of(String doing, IOException e) {
        String detail = Objects.requireNonNullElse(
                e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : e.getMessage(), "");
        if (detail.contains("No space left") || detail.contains("quota exceeded")) {
            return new OutputException(Reason.NO_SPACE, doing + ": no space left on the disk", "", e);
        }
        return switch (e) {
            case NoSuchFileException _ -> new OutputException(Reason.GONE, doing + ": no such folder", "", e);
            case AccessDeniedException _ ->
                    new OutputException(Reason.DENIED, doing + ": permission denied", "", e);
            default -> {
                boolean readOnly = detail.contains("Read-only");
                String why = detail.isEmpty() ? e.getClass().getSimpleName() : detail;
                yield new OutputException(readOnly ? Reason.DENIED : Reason.IO, doing + ": " + lower(why), "", e);
            }
        };
    }

    private static String lower(String text) {
        return text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
    }

    public Reason reason() {
        return reason;
    }
}
