package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.format.Visible;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/// A text page of a given width that may have colours.
///
/// @param out where the page goes; not closed here
/// @param width columns
/// @param colours whether ANSI escapes may be used
/// @param unicode whether block characters can be shown
public record Page(PrintWriter out, int width, boolean colours, boolean unicode) {
    /// A style within a line: around its code are characters that no text has, so that an escape sequence in a line is
    /// never ours before [#line] makes it.
    private static final char STYLE = '\uFDD0';
    private static final char STYLE_END = '\uFDD1';
    private static final Pattern STYLES = Pattern.compile(STYLE + "((?:[0-2]|1;3\\d|3\\d|9\\d)?)" + STYLE_END);
    private static final String BARS = "▁▂▃▄▅▆▇█";
    private static final String PARTIAL = "▏▎▍▌▋▊▉█";

    /// One line; what could move the cursor or ring a bell, and is not a style of ours, is shown as text.
    public void line(String text) {
        out.println(STYLES.matcher(Visible.of(text)).replaceAll("\u001B[$1m").stripTrailing());
    }

    public void blank() {
        out.println();
    }

    public void heading(String text) {
        line(bold(text));
    }

    /// Text broken at spaces, but not between a number and its unit; further lines are indented like the text after
    /// the label.
    public void paragraph(String label, String text) {
        paragraph(label, text, UnaryOperator.identity());
    }

    /// The same with a style for each line.
    public void paragraph(String label, String text, UnaryOperator<String> style) {
        String indent = " ".repeat(label.length());
        StringBuilder line = new StringBuilder(label);
        int length = label.length();
        for (String glued : Quantity.glued(text).split(" ", -1)) {
            String word = glued.replace('\u00A0', ' ');
            boolean first = length == indent.length();
            if (!first && length + 1 + word.length() > width) {
                line(style.apply(line.toString()));
                line = new StringBuilder(indent);
                length = indent.length();
                first = true;
            }
            line.append(first ? "" : " ").append(word);
            length += word.length() + (first ? 0 : 1);
        }
        line(style.apply(line.toString()));
    }

    /// A bar whose full length is `cells`.
    public String bar(double share, int cells) {
        double length = Math.clamp(share, 0, 1) * cells;
        if (!unicode) {
            return "#".repeat((int) Math.round(length));
        }
        int whole = (int) length;
        int eighths = (int) Math.round((length - whole) * 8);
        return "█".repeat(whole) + (eighths == 0 ? "" : PARTIAL.substring(eighths - 1, eighths));
    }

    /// One character whose height is `share` of the line.
    private String spark(double share) {
        if (!unicode) {
            return Integer.toString((int) Math.clamp(share * 9, 0, 9));
        }
        int level = Math.clamp(Math.round(share * 8) - 1, 0, 7);
        return BARS.substring(level, level + 1);
    }

    /// Values as characters, at most `cells` of them; of several that share one, the highest counts.
    public String sparkline(List<Double> values, double top, int cells) {
        StringBuilder line = new StringBuilder();
        int points = Math.min(values.size(), Math.max(1, cells));
        for (int i = 0; i < points; i++) {
            double highest = 0;
            for (double value : values.subList(i * values.size() / points, (i + 1) * values.size() / points)) {
                highest = Math.max(highest, value);
            }
            line.append(spark(highest / Math.max(1, top)));
        }
        return line.toString();
    }

    /// Text cut to a width; the middle is left out, because the ends tell names apart.
    public String fit(String text, int columns) {
        return cut(text, columns, unicode ? "…" : "..");
    }

    /// The same for text that is no line of a page.
    ///
    /// @param gap what stands for the middle
    public static String cut(String text, int columns, String gap) {
        if (text.length() <= columns) {
            return text;
        }
        int kept = Math.max(0, columns - gap.length());
        int tail = kept / 2;
        return text.substring(0, kept - tail) + gap + text.substring(text.length() - tail);
    }

    public String bold(String text) {
        return styled("1", text);
    }

    public String dim(String text) {
        return styled("2", text);
    }

    public String severity(String severity, String text) {
        return switch (severity) {
            case "high" -> styled("1;31", text);
            case "medium" -> styled("33", text);
            case "healthy" -> styled("1;32", text);
            default -> styled("36", text);
        };
    }

    public String colour(int code, String text) {
        return styled(Integer.toString(code), text);
    }

    private String styled(String code, String text) {
        return colours && !text.isEmpty() ? STYLE + code + STYLE_END + text + STYLE + "0" + STYLE_END : text;
    }
}
