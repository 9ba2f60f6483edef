package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.report.data.Report;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the analyzer finds in a recording, as of one moment.
///
/// @param asOfMs when the analysis began, milliseconds since the epoch; 0 before the first
/// @param recording what was analyzed; all of it, whatever a replay has reached
/// @param note one line: what they do not cover, or why there are none yet; empty when there is nothing to say
public record Findings(long asOfMs, String recording, String note, List<Found> findings) {
    private static final int MOST = 20;

    static final Findings NONE = new Findings(0, "", "not analyzed", List.of());

    /// One thing to fix, in the words of `zernel-analyze findings`.
    public record Found(
            String name,
            String title,
            String subject,
            String severity,
            @Nullable Double lostMsPerStep,
            @Nullable Double maxSpeedup,
            String evidence,
            String advice,
            String nextCommand) {
        private static Found of(Finding finding) {
            return new Found(finding.name(), finding.title(), finding.subject(), finding.severity(),
                    finding.lostMillisPerStep(), finding.maxSpeedup(), finding.evidence(), finding.advice(),
                    finding.nextCommand());
        }
    }

    static Findings of(Database database, String recording) {
        long began = System.currentTimeMillis();
        Diagnosis diagnosis = Report.diagnose(database);
        return new Findings(began, recording, diagnosis.skippedText(),
                diagnosis.findings().stream().limit(MOST).map(Found::of).toList());
    }

    /// The same findings, and why there are no newer ones.
    Findings butNot(String newer, String why) {
        return new Findings(System.currentTimeMillis(), newer, why, findings);
    }
}
