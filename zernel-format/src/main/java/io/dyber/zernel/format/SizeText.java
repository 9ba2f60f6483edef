package io.dyber.zernel.format;

import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Numbers of bytes as people write and read them; units are decimal.
public final class SizeText {
    private static final Pattern FORM = Pattern.compile("(\\d{1,6})([MGT])i?B");
    private static final Map<String, Long> UNITS = Map.of("M", 1_000_000L, "G", 1_000_000_000L, "T", 1_000_000_000_000L);

    private SizeText() {}

    /// Reads `500MB`, `1GB` or `2TB`, also `1GiB`, as which people mean the same; empty for anything else.
    public static OptionalLong parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? OptionalLong.of(Long.parseLong(matcher.group(1)) * UNITS.getOrDefault(matcher.group(2), 1L))
                : OptionalLong.empty();
    }

    /// `65536` is `65.5 kB`.
    public static String of(long bytes) {
        return of((double) bytes);
    }

    /// Of a mean.
    public static String of(double bytes) {
        return Scaled.of(bytes, "B", "kB", "MB", "GB", "TB");
    }
}
