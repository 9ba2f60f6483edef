package io.dyber.zernel.analyze;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;

/// What a finding says of time must be possible, whatever was recorded: it loses no more than a step, what fixing it gains
/// is finite, and both follow from the numbers that are printed beside them.
@NullMarked
final class PossibleBounds {
    private static final Pattern EQUATION =
            Pattern.compile("saves at most ([0-9.]+) ms: ([0-9.]+) / \\(([0-9.]+) - ([0-9.]+)\\) = ([0-9.]+)x");

    /// Half of the last digit that is printed.
    private static final double ROUNDING = 0.005 + 1e-9;

    private PossibleBounds() {}

    /// What is impossible in what the findings say, one line each.
    static List<String> violations(List<Finding> findings) {
        List<String> wrong = new ArrayList<>();
        findings.forEach(finding -> check(finding, wrong));
        return wrong;
    }

    private static void check(Finding finding, List<String> wrong) {
        Double lost = finding.lostMillisPerStep();
        if (lost == null) {
            return;
        }
        require(lost >= 0, "loses less than nothing", finding, wrong);
        require(finding.leastLostMillisPerStep() <= lost, "loses at least more than it loses", finding, wrong);
        Double gain = finding.maxSpeedup();
        if (gain == null) {
            require(!finding.evidence().contains("saves at most"), "saves the whole step", finding, wrong);
            return;
        }
        require(gain >= 1 && Double.isFinite(gain), "gains less than nothing, or all", finding, wrong);
        Matcher equation = EQUATION.matcher(finding.evidence());
        if (!equation.find()) {
            wrong.add("says a gain without its equation: " + describe(finding));
            return;
        }
        double step = Double.parseDouble(equation.group(2));
        double saved = Double.parseDouble(equation.group(4));
        require(saved == Double.parseDouble(equation.group(1)), "saves another time than it says", finding, wrong);
        require(step == Double.parseDouble(equation.group(3)), "divides by another step", finding, wrong);
        require(saved < step, "saves more than a step", finding, wrong);
        require(Math.abs(step / (step - saved) - gain) <= ROUNDING, "has an equation that does not hold", finding, wrong);
        require(Double.parseDouble(equation.group(5)) == gain, "gains another factor than its equation", finding, wrong);
        // Four digits of the step are printed, three of a millisecond are lost.
        require(lost <= saved + step * 0.0005 + 0.001, "loses more than the bound", finding, wrong);
    }

    private static void require(boolean possible, String what, Finding finding, List<String> wrong) {
        if (!possible) {
            wrong.add(what + ": " + describe(finding));
        }
    }

    private static String describe(Finding finding) {
        return String.format(
                Locale.ROOT,
                "%s of %s loses %s ms, gains %sx: %s",
                finding.name(),
                finding.subject(),
                finding.lostMillisPerStep(),
                finding.maxSpeedup(),
                finding.evidence());
    }
}
