package io.dyber.zernel.serve.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What the demonstration prints of its two recordings: few enough lines of few enough columns for any terminal.
public final class DemoText {
    private static final int COLUMNS = 80;
    private static final String INDENT = "        ";

    private DemoText() {}

    /// What a finding says.
    ///
    /// @param title of the finding
    /// @param subject whom it is about
    /// @param stepMillis mean training step of the recording
    /// @param lostMillis of it, lost
    /// @param speedup that fixing it gains at most
    /// @param evidence what it rests on
    /// @param advice what to try
    public record Verdict(
            String title, String subject, double stepMillis, double lostMillis, double speedup, String evidence, String advice) {}

    /// The first run: what is wrong, why, and what to do.
    public static List<String> found(Verdict verdict) {
        List<String> lines = new ArrayList<>();
        lines.add("FOUND   " + verdict.title());
        lines.addAll(wrapped("        ", "%s loses %s of a step of %s; fixing it gains at most %s, all else as it is".formatted(
                verdict.subject(), millis(verdict.lostMillis()), millis(verdict.stepMillis()), times(verdict.speedup()))));
        lines.addAll(wrapped("  why   ", verdict.evidence()));
        lines.addAll(wrapped("  try   ", verdict.advice()));
        return lines;
    }

    /// The second run, held against what the first promised.
    ///
    /// @param remedy what was changed
    /// @param stepMillis mean training step after the change
    public static List<String> fixed(Verdict verdict, String remedy, double stepMillis) {
        List<String> lines = new ArrayList<>(wrapped("FIXED   ", remedy));
        lines.add(INDENT + "a step took " + millis(verdict.stepMillis()) + " and takes " + millis(stepMillis));
        lines.add(INDENT + "promised at most " + times(verdict.speedup()) + "; measured "
                + times(verdict.stepMillis() / stepMillis));
        return lines;
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, "%.1f ms", millis);
    }

    private static String times(double factor) {
        return String.format(Locale.ROOT, "%.2fx", factor);
    }

    /// Words in lines of at most [#COLUMNS], the first after `start`; a longer word has a line of its own.
    private static List<String> wrapped(String start, String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder(start);
        for (String word : text.split(" ")) {
            if (line.length() > INDENT.length() && line.length() + 1 + word.length() > COLUMNS) {
                lines.add(line.toString());
                line = new StringBuilder(INDENT);
            }
            line.append(line.length() > INDENT.length() ? " " : "").append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
