package io.dyber.zernel.record.option;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How command lines are written down: as they are, or with `--redact` as the name of the program and the number of its
/// arguments.
///
/// @param redacted arguments may hold passwords and tokens and must not be in the recording
public record CommandLines(boolean redacted) {
    /// What is written down of a command line, which is empty for a process without one.
    public List<String> shown(List<String> words) {
        return redacted ? words.stream().limit(1).map(CommandLines::program).toList() : words;
    }

    /// How many arguments are left out; null where none are.
    public @Nullable Integer hidden(List<String> words) {
        return redacted ? Integer.valueOf(Math.max(0, words.size() - 1)) : null;
    }

    /// That arguments are left out; null where none are.
    public @Nullable Boolean mark() {
        return redacted ? Boolean.TRUE : null;
    }

    /// The recorder's own words, which end with the command to run.
    public List<String> options(List<String> words, List<String> command) {
        return redacted && !command.isEmpty() ? words.subList(0, words.size() - command.size() + 1) : words;
    }

    /// Programs that set their title make one word of it.
    private static String program(String word) {
        return word.strip().split("\\s", 2)[0];
    }
}
