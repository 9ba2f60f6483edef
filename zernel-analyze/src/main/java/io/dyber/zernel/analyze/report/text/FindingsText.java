package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.FindingLine;
import io.dyber.zernel.analyze.report.data.FindingWords;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.HashMap;
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

    /// The worst kinds in full.
    ///
    /// @param most further kinds are only named
    public void write(Diagnosis diagnosis, int most) {
        int number = 1;
        Map<String, Integer> firstLines = new HashMap<>();
        List<String> others = new ArrayList<>();
        for (List<Finding> same : byKind(diagnosis)) {
            if (number > most) {
                others.add(same.getFirst().title().replaceFirst("\\.$", ""));
            } else {
                write(number++, same, firstLines);
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
    public static List<List<Finding>> byKind(Diagnosis diagnosis) {
        Map<String, List<Finding>> kinds = new LinkedHashMap<>();
        diagnosis.findings().forEach(finding ->
                kinds.computeIfAbsent(finding.name(), _ -> new ArrayList<>()).add(finding));
        return List.copyOf(kinds.values());
    }

    /// @param firstLines of the findings above, each with the number of the first that has it
    private void write(int number, List<Finding> same, Map<String, Integer> firstLines) {
        Finding worst = same.getFirst();
        String severity = String.format(Locale.ROOT, "%-6s", worst.severity());
        page.line(String.format(Locale.ROOT, "%2d ", number) + page.severity(worst.severity(), severity) + " "
                + page.bold(worst.title()));
        page.paragraph("   ", worst.subject() + ": " + FindingWords.amount(worst) + FindingWords.gain(worst));
        page.paragraph("   why   ", worst.evidence());
        lines(worst, number, firstLines);
        page.paragraph("   try   ", worst.advice());
        if (!worst.nextCommand().isEmpty()) {
            page.line("   next  " + worst.nextCommand());
        }
        if (same.size() > 1) {
            page.paragraph("   also  ", also(same.subList(1, same.size())));
        }
    }

    /// Says, too, where the first line is one that a finding above begins with: then they may tell of the same time.
    private void lines(Finding finding, int number, Map<String, Integer> firstLines) {
        String label = "   line  ";
        String again = "";
        List<FindingLine> lines = FindingWords.lines(finding);
        if (!lines.isEmpty()) {
            Integer above = firstLines.putIfAbsent(lines.getFirst().line(), number);
            again = above == null ? "" : ", as in " + above;
        }
        for (int i = 0; i < lines.size(); i++) {
            FindingLine line = lines.get(i);
            page.paragraph(label, (i == 0 ? line.text() : line.textBelow(lines.get(i - 1))) + again);
            label = " ".repeat(label.length());
            again = "";
        }
    }

    private static String also(List<Finding> others) {
        List<String> subjects = new ArrayList<>();
        for (Finding other : others.subList(0, Math.min(MOST_SUBJECTS, others.size()))) {
            Double lost = other.lostMillisPerStep();
            subjects.add(other.subject() + " (" + (lost == null ? FindingWords.amount(other) : Quantity.time(lost * 1e6)) + ")");
        }
        int more = others.size() - subjects.size();
        return String.join(", ", subjects) + (more == 0 ? "" : " and " + more + " more");
    }
}
