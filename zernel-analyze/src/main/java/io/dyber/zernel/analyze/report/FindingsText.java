package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import java.util.Locale;

/// Findings as numbered blocks: what, how much it can gain, why we think so, what to try.
public record FindingsText(Page page) {
    public void write(Diagnosis diagnosis) {
        int number = 1;
        for (Finding finding : diagnosis.findings()) {
            write(number++, finding);
        }
        if (!diagnosis.skipped().isEmpty()) {
            page.paragraph("   ", diagnosis.skippedText());
        }
    }

    private void write(int number, Finding finding) {
        String severity = String.format(Locale.ROOT, "%-6s", finding.severity());
        page.line(String.format(Locale.ROOT, "%2d ", number) + page.severity(finding.severity(), severity) + " "
                + page.bold(finding.title()));
        page.paragraph("   ", finding.subject() + ": " + amount(finding) + gain(finding));
        page.paragraph("   why   ", finding.evidence());
        page.paragraph("   try   ", finding.advice());
        if (!finding.nextCommand().isEmpty()) {
            page.line("   next  " + finding.nextCommand());
        }
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
        String perStep = lost == null ? "" : String.format(Locale.ROOT, "; loses %s per step", Quantity.time(lost * 1e6));
        return perStep
                + (speedup == null ? "" : String.format(Locale.ROOT, "; fixing it gains at most %.2fx", speedup));
    }
}
