package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Findings as numbered blocks: what, how much it can gain, why we think so, what to try.
public record FindingsText(Page page) {
    private static final int MOST_SUBJECTS = 6;

    /// All findings; those of one kind together, the worst in full.
    public void write(Diagnosis diagnosis) {
        write(diagnosis, Integer.MAX_VALUE);
    }

    /// @param most further kinds are only named
    void write(Diagnosis diagnosis, int most) {
        int number = 1;
        List<String> others = new ArrayList<>();
        for (List<Finding> same : byKind(diagnosis)) {
            if (number > most) {
                others.add(same.getFirst().title().replaceFirst("\\.$", ""));
            } else {
                write(number++, same);
            }
        }
        if (!others.isEmpty()) {
            page.paragraph("and " + others.size() + " more: ", String.join("; ", others) + " (zernel-analyze findings)");
        }
        if (!diagnosis.skipped().isEmpty()) {
            page.paragraph("   ", diagnosis.skippedText());
        }
    }

    /// Findings of one kind together, in the order of the worst of each.
    static List<List<Finding>> byKind(Diagnosis diagnosis) {
        Map<String, List<Finding>> kinds = new LinkedHashMap<>();
        diagnosis.findings().forEach(finding ->
                kinds.computeIfAbsent(finding.name(), _ -> new ArrayList<>()).add(finding));
        return List.copyOf(kinds.values());
    }

    private void write(int number, List<Finding> same) {
        Finding worst = same.getFirst();
        String severity = String.format(Locale.ROOT, "%-6s", worst.severity());
        page.line(String.format(Locale.ROOT, "%2d ", number) + page.severity(worst.severity(), severity) + " "
                + page.bold(worst.title()));
        page.paragraph("   ", worst.subject() + ": " + amount(worst) + gain(worst));
        page.paragraph("   why   ", worst.evidence());
        page.paragraph("   try   ", worst.advice());
        if (!worst.nextCommand().isEmpty()) {
            page.line("   next  " + worst.nextCommand());
        }
        if (same.size() > 1) {
            page.paragraph("   also  ", also(same.subList(1, same.size())));
        }
    }

    private static String also(List<Finding> others) {
        List<String> subjects = new ArrayList<>();
        for (Finding other : others.subList(0, Math.min(MOST_SUBJECTS, others.size()))) {
            Double lost = other.lostMillisPerStep();
            subjects.add(other.subject() + " (" + (lost == null ? amount(other) : Quantity.time(lost * 1e6)) + ")");
        }
        int more = others.size() - subjects.size();
        return String.join(", ", subjects) + (more == 0 ? "" : " and " + more + " more");
    }

    static String amount(Finding finding) {
        Double value = finding.value();
        String number = value == null
                ? ""
                : value == Math.rint(value) ? Quantity.count(value.longValue()) : String.format(Locale.ROOT, "%.1f", value);
        return (number + " " + finding.unit()).strip();
    }

    static String gain(Finding finding) {
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
