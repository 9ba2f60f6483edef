package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Texts;
import java.nio.charset.StandardCharsets;

/// Strings as they are stored.
final class Utf8 {
    private Utf8() {}

    /// A lone surrogate, which UTF-8 cannot express, becomes `?`.
    static byte[] of(Texts texts, int id) {
        return texts.text(id).getBytes(StandardCharsets.UTF_8);
    }
}
