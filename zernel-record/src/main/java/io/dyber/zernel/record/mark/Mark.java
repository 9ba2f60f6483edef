package io.dyber.zernel.record.mark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// A moment that a user named.
///
/// @param monotonicNanos when, on CLOCK_MONOTONIC
/// @param pid the process that marks
/// @param tid the thread of it
/// @param comm the name of that thread
public record Mark(long monotonicNanos, int pid, int tid, String comm, String text) {
    /// The longest text, in bytes of UTF-8.
    public static final int MOST_BYTES = 1024;

    /// @throws IllegalArgumentException when the text is blank or too long
    public Mark {
        if (text.isBlank()) {
            throw new IllegalArgumentException("a mark needs a text");
        }
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "the text of the mark is " + bytes + " bytes long, the longest are " + MOST_BYTES);
        }
    }

    /// A mark of the calling thread.
    public static Mark ofThisThread(long monotonicNanos, String text) {
        int pid = (int) ProcessHandle.current().pid();
        try {
            // PID/task/TID
            Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
            String comm = Files.readString(Path.of("/proc").resolve(self).resolve("comm")).strip();
            return new Mark(monotonicNanos, pid, Integer.parseInt(self.getFileName().toString()), comm, text);
        } catch (IOException _) {
            return new Mark(monotonicNanos, pid, pid, "", text);
        }
    }
}
