package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.FindingLine;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A finding's numbers in words.
public final class FindingWords {
    private static final int MOST_LINES = 3;
    private static final double LEAST_SHARE = 0.05;
    /// Of a loss, in milliseconds: a nanosecond, the least that a text shows.
    private static final double NOTHING = 1e-6;
    /// A subject that is more than one: `2 ranks`, `pid 7 and 1 more`.
    private static final Pattern SEVERAL = Pattern.compile("^\\d+ ranks| and \\d+ more");

    private FindingWords() {}

    /// The value with its unit.
    public static String amount(Finding finding) {
        Double value = finding.value();
        String number = value == null
                ? ""
                : value == Math.rint(value) ? Quantity.count(value.longValue()) : String.format(Locale.ROOT, "%.1f", value);
        return (number + " " + finding.unit()).strip();
    }

    /// What it costs a step, and what fixing it can gain, each after a semicolon; empty where neither is known. The gain is a bound
    /// for a step whose other parts take as long as before: they can get faster, too, as on a CPU that is no longer shared.
    public static String gain(Finding finding) {
        Double lost = finding.lostMillisPerStep();
        Double speedup = finding.maxSpeedup();
        String perStep = lost == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %s %s per %s%s",
                        verb(finding, lost),
                        Quantity.time(lost * 1e6),
                        StepWords.step(finding),
                        atLeast(finding, lost));
        return perStep
                + (speedup == null ? "" : String.format(Locale.ROOT, "; fixing it gains at most %.2fx, all else as it is", speedup));
    }

    /// The lines that a text names: those with most of what the finding tells of, of each rule the first before others.
    public static List<FindingLine> lines(Finding finding) {
        Map<String, Integer> places = new HashMap<>();
        record Placed(FindingLine line, int place) {}
        List<Placed> placed = finding.lines().stream()
                .filter(line -> line.share() >= LEAST_SHARE)
                .map(line -> new Placed(line, places.merge(line.of(), 1, Integer::sum)))
                .toList();
        Set<FindingLine> chosen = placed.stream()
                .sorted(Comparator.comparingInt(Placed::place))
                .limit(MOST_LINES)
                .map(Placed::line)
                .collect(Collectors.toSet());
        return finding.lines().stream().filter(chosen::contains).toList();
    }

    private static String verb(Finding finding, double lost) {
        if (finding.leastLostMillisPerStep() < NOTHING && lost >= NOTHING) {
            return "may lose";
        }
        return SEVERAL.matcher(finding.subject()).find() ? "lose" : "loses";
    }

    /// Where the loss is known within a range only, of which the least is something.
    private static String atLeast(Finding finding, double lost) {
        double least = finding.leastLostMillisPerStep();
        String text = Quantity.time(least * 1e6);
        return NOTHING <= least && least < lost && !text.equals(Quantity.time(lost * 1e6)) ? " (at least " + text + ")" : "";
    }
}
