package io.dyber.zernel.format;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// A footer that is being written: its keys and their JSON.
public final class FooterValues {
    private final Map<String, String> values = new LinkedHashMap<>();

    public FooterValues() {
        put(Footer.FORMAT, Footer.CURRENT_FORMAT);
    }

    /// Adds or replaces one key; an empty `Optional` is written as `{}`.
    public FooterValues put(String key, Object value) {
        values.put(key, Footer.json(value instanceof Optional<?> maybe && maybe.isEmpty() ? Map.of() : value));
        return this;
    }

    public Map<String, String> values() {
        return Map.copyOf(values);
    }
}
