package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.Locale;

/// A finding's numbers in words.
public final class FindingWords {
    private FindingWords() {}

    /// The value with its unit.
    public static String amount(Finding finding) {
        Double value = finding.value();
        String number = value == null
                ? ""
                : value == Math.rint(value) ? Quantity.count(value.longValue()) : String.format(Locale.ROOT, "%.1f", value);
        return (number + " " + finding.unit()).strip();
    }

    /// What it costs a step, and what fixing it can gain, each after a semicolon; empty where neither is known.
    public static String gain(Finding finding) {
        Double lost = finding.lostMillisPerStep();
        Double speedup = finding.maxSpeedup();
        String perStep = lost == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; loses %s per %s%s",
                        Quantity.time(lost * 1e6),
                        StepWords.step(finding),
                        atLeast(finding, lost));
        return perStep
                + (speedup == null ? "" : String.format(Locale.ROOT, "; fixing it gains at most %.2fx", speedup));
    }

    /// Where the loss is known within a range only.
    private static String atLeast(Finding finding, double lost) {
        double least = finding.leastLostMillisPerStep();
        return least < lost ? " (at least " + Quantity.time(least * 1e6) + ")" : "";
    }
}
