package io.dyber.zernel.serve.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a tool answers: the same for programs and as text.
///
/// @param members by name: values as [Rows] makes them
record Answer(Map<String, ? extends @Nullable Object> members, String text) {
    /// Characters of the text, and of all names and values of the members' rows.
    static final int MOST_TEXT = 60_000;

    Answer {
        if (text.length() > MOST_TEXT) {
            text = text.substring(0, MOST_TEXT) + "...\n(only the first " + MOST_TEXT + " characters)\n";
        }
    }
}
