package io.dyber.zernel.record;

import java.util.List;
import java.util.Map;

/// How command lines are written down: as they are, or with `--redact` as the name of the program and the number of its
/// arguments.
///
/// @param redacted arguments may hold passwords and tokens and must not be in the recording
record CommandLines(boolean redacted) {
    /// Adds a command line, empty for a process without one, to a chapter of the footer.
    void put(Map<String, Object> chapter, String key, List<String> words) {
        if (redacted) {
            chapter.put(key, words.stream().limit(1).map(CommandLines::program).toList());
            chapter.put("arguments", Math.max(0, words.size() - 1));
            chapter.put("redacted", true);
        } else {
            chapter.put(key, words);
        }
    }

    /// The recorder's own words, which end with the command to run.
    List<String> options(List<String> words, List<String> command) {
        return redacted && !command.isEmpty() ? words.subList(0, words.size() - command.size() + 1) : words;
    }

    /// Programs that set their title make one word of it.
    private static String program(String word) {
        return word.strip().split("\\s", 2)[0];
    }
}
