package io.dyber.zernel.format;

import java.util.regex.Pattern;

/// Text of others, such as names, command lines and paths, made safe to show: what would steer a terminal or change the
/// order of what is read is shown as an escape sequence, `\x1b` or `\u202e`. Made for people; what programs read back,
/// such as JSON and Parquet, has ways of its own.
public final class Visible {
    private static final String BIDI = "\\x{61C}\\x{200E}\\x{200F}\\x{2028}-\\x{202E}\\x{2066}-\\x{2069}";
    private static final Pattern HIDDEN = Pattern.compile("[\\x00-\\x1F\\x7F-\\x9F" + BIDI + "]");
    private static final Pattern HIDDEN_BUT_LINES =
            Pattern.compile("[\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F" + BIDI + "]");

    private Visible() {}

    /// All of it in one line.
    public static String of(String text) {
        return escaped(HIDDEN, text);
    }

    /// The same with line feeds and tabs as they are.
    public static String butLines(String text) {
        return escaped(HIDDEN_BUT_LINES, text);
    }

    private static String escaped(Pattern hidden, String text) {
        return hidden.matcher(text).replaceAll(match -> escape(match.group().charAt(0)));
    }

    /// As the replacement of a match, in which a backslash counts twice.
    private static String escape(char hidden) {
        return switch (hidden) {
            case '\n' -> "\\\\n";
            case '\r' -> "\\\\r";
            case '\t' -> "\\\\t";
            default -> hidden < 0x100 ? "\\\\x%02x".formatted((int) hidden) : "\\\\u%04x".formatted((int) hidden);
        };
    }
}
