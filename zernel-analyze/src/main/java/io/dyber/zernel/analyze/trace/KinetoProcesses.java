package io.dyber.zernel.analyze.trace;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Processes that have a text in place of a number, which who merges traces of several ranks writes: `[TP01] 4711`.
///
/// Each text is one process, whose number is that in the text, or the next one that no other process has. The text of a
/// GPU is that of its process, `rank 1`, or it has the GPU's number and the same before it, `[TP01] 0`.
final class KinetoProcesses {
    private static final Pattern NUMBERED = Pattern.compile("(?s)(.*?)(\\d{1,9})\\D*");
    /// Texts that are told apart, of which a trace has as many as ranks.
    private static final int MOST = 10_000;
    /// In place of a process: there are several.
    private static final long SEVERAL = -1;

    private final Map<String, Long> known = new HashMap<>();
    /// The process with so much before its number.
    private final Map<String, Long> labelled = new HashMap<>();
    private final Set<Long> taken = new HashSet<>();

    /// The number in a text, such as of a GPU, thread or stream; null if it has none.
    static @Nullable Long number(String text) {
        Matcher numbered = NUMBERED.matcher(text);
        return numbered.matches() ? Long.valueOf(numbered.group(2)) : null;
    }

    /// The process of an event on the CPU; null where there are too many.
    @Nullable Long of(String text) {
        Long process = known.get(text);
        if (process == null && known.size() < MOST) {
            Long number = number(text);
            process = number == null ? 1L : number;
            while (!taken.add(process)) {
                process++;
            }
            known.put(text, process);
            labelled.merge(label(text), process, (_, _) -> SEVERAL);
        }
        return process;
    }

    /// The process of what ran on a GPU; null where nothing tells it, or it had no event on the CPU before.
    @Nullable Long ofGpu(String text) {
        Long process = known.containsKey(text) ? known.get(text) : labelled.get(label(text));
        return process == null || process == SEVERAL ? null : process;
    }

    private static String label(String text) {
        Matcher numbered = NUMBERED.matcher(text);
        // Nothing before it: the number itself.
        return numbered.matches() && !numbered.group(1).isBlank() ? numbered.group(1) : text;
    }
}
