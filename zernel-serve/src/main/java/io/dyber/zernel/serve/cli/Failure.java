package io.dyber.zernel.serve.cli;

import io.dyber.zernel.format.RecordingException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/// A fact about the environment or the data that stops a command: one line, and a hint.
final class Failure extends Exception {
    private static final int ENVIRONMENT = 1;
    private static final int BUG = 70;
    private static final int INTERRUPTED = 130;

    private final @Nullable String hint;

    /// @param message *doing what* `'which'`: *why*
    Failure(String message, @Nullable String hint) {
        super(message);
        this.hint = hint;
    }

    /// Prints what stopped `command`, unless somebody stops it, and gives the exit code.
    static int report(String command, Exception failure, boolean verbose, PrintWriter err) {
        if (failure instanceof InterruptedException || isBeingStopped()) {
            return INTERRUPTED;
        }
        int code = switch (failure) {
            case Failure known -> say(command, known.getMessage(), known.hint, err);
            case RecordingException known -> say(command, known.getMessage(), known.hint(), err);
            default -> {
                err.println(command + ": internal error: " + failure);
                failure.printStackTrace(err);
                yield BUG;
            }
        };
        if (verbose && code == ENVIRONMENT) {
            failure.printStackTrace(err);
        }
        return code;
    }

    /// Whether a signal is ending this process, with an exit code of its own; what breaks meanwhile broke because of that.
    private static boolean isBeingStopped() {
        Thread hook = new Thread(() -> {}, "zernel-stopped");
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            return !Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            return true;
        }
    }

    private static int say(String command, @Nullable String message, @Nullable String hint, PrintWriter err) {
        err.println(command + ": " + message);
        if (hint != null) {
            err.println("hint: " + hint);
        }
        return ENVIRONMENT;
    }
}
