package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.report.data.Verdict;
import io.dyber.zernel.analyze.report.table.Page;

/// The verdict, coloured by how bad it is, and what it rests on below.
public record VerdictText(Page page) {
    public void write(Verdict verdict) {
        String severity =
                switch (verdict.kind()) {
                    case BOTTLENECK, RISK -> "high";
                    case HEALTHY -> "healthy";
                    case UNKNOWN -> "medium";
                };
        page.paragraph("", verdict.sentence(), line -> page.severity(severity, line));
        if (!verdict.reason().isEmpty()) {
            page.paragraph("  ", verdict.reason());
        }
    }
}
