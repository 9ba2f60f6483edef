package io.dyber.zernel.record.event;

import java.nio.charset.StandardCharsets;

/// Strings as they are stored.
public final class Utf8 {
    private Utf8() {}

    /// A lone surrogate, which UTF-8 cannot express, becomes `?`.
    public static byte[] of(StringDictionary texts, int id) {
        return texts.text(id).getBytes(StandardCharsets.UTF_8);
    }
}
