package io.dyber.zernel.record.event;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The dictionary of a recording: every distinct string once, numbered from 0 in order of first use.
///
/// One thread adds; ids and strings never change, so [#size] and [#text] may be read by another thread that was
/// handed an id by the adding one.
public final class Texts {
    private final Map<String, Integer> ids = new HashMap<>();
    private final List<String> texts = new ArrayList<>();

    /// The id of `text`, new or known.
    public synchronized int id(String text) {
        Integer known = ids.get(text);
        if (known != null) {
            return known;
        }
        int id = texts.size();
        texts.add(text);
        ids.put(text, id);
        return id;
    }

    public synchronized String text(int id) {
        return texts.get(id);
    }

    public synchronized int size() {
        return texts.size();
    }
}
