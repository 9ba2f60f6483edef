package io.dyber.zernel.record.probe;

import java.util.Locale;
import java.util.Optional;

/// What a captured value is: an integer of 1, 2, 4 or 8 bytes, or a string.
///
/// Integers become BIGINT: the unsigned ones are zero-extended, so a `u64` above 2^63 shows as a negative number.
public enum Width {
    U8(1, false),
    S8(1, true),
    U16(2, false),
    S16(2, true),
    U32(4, false),
    S32(4, true),
    U64(8, false),
    S64(8, true),
    /// As wide as the tracepoint's own note says; only in a [UsdtProbe].
    NATURAL(8, false),
    /// A `char *` to a string that ends with a zero byte.
    STR(8, false),
    /// Not an integer of the program: the 64-bit FNV-1a-like hash of the 128 bytes at the place, to tell ids apart.
    HASH(128, false),
    /// The text itself lies at the place and ends with a zero byte.
    CHARS(8, false),
    /// A `std::string` of libstdc++: its first 8 bytes point to the text, the next 8 are the length.
    STDSTR(16, false);

    private final int bytes;
    private final boolean signed;

    Width(int bytes, boolean signed) {
        this.bytes = bytes;
        this.signed = signed;
    }

    /// Bytes to read at the value's place; for the strings, the size of what leads to the text.
    public int bytes() {
        return bytes;
    }

    public boolean signed() {
        return signed;
    }

    public boolean text() {
        return this == STR || this == CHARS || this == STDSTR;
    }

    /// The width a probe text names, e.g. `s32`.
    static Optional<Width> named(String name) {
        for (Width width : values()) {
            if (width != NATURAL && width.name().toLowerCase(Locale.ROOT).equals(name)) {
                return Optional.of(width);
            }
        }
        return Optional.empty();
    }
}
