package io.dyber.zernel.record.event;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The dictionary of a recording: every distinct string once, numbered from 0 in order of first use.
///
/// One thread adds; ids and strings never change, so [#size] and [#text] may be read by another thread that was
/// handed an id by the adding one.
public final class StringDictionary {
    /// What texts are recorded as when there are too many.
    static final String MANY = "<too many texts>";

    private static final int MOST = 500_000;
    /// Every journal begins with all texts, in one message that readers take up to 256 MB of; and the recorder holds them.
    private static final long MOST_BYTES = 64 << 20;

    private final Map<String, Integer> ids = new HashMap<>();
    private final List<String> texts = new ArrayList<>();
    private long bytes;
    private long replaced;

    /// The id of `text`, new or known.
    public synchronized int id(String text) {
        Integer known = ids.get(text);
        if (known != null) {
            return known;
        }
        int id = texts.size();
        texts.add(text);
        ids.put(text, id);
        bytes += text.getBytes(StandardCharsets.UTF_8).length;
        return id;
    }

    /// The id of a text that the recorded job has made up, known or new. After half a million different texts, or 64 MB of
    /// them, a new one is recorded as [#MANY]: a job that runs for days may number all its regions, and have many stacks.
    public synchronized int idOfMany(String text) {
        Integer known = ids.get(text);
        if (known != null) {
            return known;
        }
        if (texts.size() < MOST && bytes < MOST_BYTES) {
            return id(text);
        }
        replaced++;
        return id(MANY);
    }

    /// What is missing of the texts.
    public synchronized List<String> caveats() {
        return replaced == 0
                ? List.of()
                : List.of(replaced + " names are '" + MANY + "': there were more than " + MOST + " different ones, or "
                        + (MOST_BYTES >> 20) + " MB of them");
    }

    public synchronized String text(int id) {
        return texts.get(id);
    }

    public synchronized int size() {
        return texts.size();
    }
}
