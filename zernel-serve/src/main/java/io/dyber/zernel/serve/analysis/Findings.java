package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.FindingLine;
import io.dyber.zernel.analyze.report.data.Report;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// What the analyzer finds in a recording, as of one moment.
///
/// @param asOfMs when the analysis began, milliseconds since the epoch; 0 before the first
/// @param recording what was analyzed; all of it, whatever a replay has reached
/// @param note one line: what they do not cover, or why there are none yet; empty when there is nothing to say
/// @param lines where the job's code spent its time, most first; empty where no stacks were recorded
public record Findings(long asOfMs, String recording, String note, List<Found> findings, List<TopLine> lines) {
    private static final int MOST = 20;
    private static final int MOST_LINES = 3;

    public static final Findings NONE = new Findings(0, "", "not analyzed", List.of(), List.of());

    /// One thing to fix, in the words of `zernel-analyze findings`.
    ///
    /// @param lines which lines of the job's code hold its time, most first: `62 % of the waits: train.py:88 log_loss`
    public record Found(
            String name,
            String title,
            String subject,
            String severity,
            @Nullable Double lostMsPerStep,
            @Nullable Double maxSpeedup,
            String evidence,
            String advice,
            String nextCommand,
            List<String> lines) {
        private static Found of(Finding finding) {
            return new Found(finding.name(), finding.title(), finding.subject(), finding.severity(),
                    finding.lostMillisPerStep(), finding.maxSpeedup(), finding.evidence(), finding.advice(),
                    finding.nextCommand(), finding.lines().stream().limit(MOST_LINES).map(FindingLine::text).toList());
        }
    }

    static Findings of(Database database, String recording) {
        long began = System.currentTimeMillis();
        return of(Report.diagnose(database), began, recording, TopLine.of(database));
    }

    /// The worst of a diagnosis.
    public static Findings of(Diagnosis diagnosis, long asOfMs, String recording, List<TopLine> lines) {
        return new Findings(asOfMs, recording, diagnosis.skippedText(),
                diagnosis.findings().stream().limit(MOST).map(Found::of).toList(), lines);
    }

    /// The same, with other next commands.
    public Findings commands(UnaryOperator<String> change) {
        return new Findings(asOfMs, recording, note, findings.stream()
                .map(found -> new Found(found.name(), found.title(), found.subject(), found.severity(), found.lostMsPerStep(),
                        found.maxSpeedup(), found.evidence(), found.advice(), change.apply(found.nextCommand()), found.lines()))
                .toList(), lines);
    }

    /// Of one finding about one subject the first, which is the worst.
    public List<Found> worstOfEach() {
        Set<List<String>> seen = new HashSet<>();
        return findings.stream()
                .filter(found -> seen.add(List.of(found.name(), found.subject())))
                .toList();
    }

    /// The same findings, and why there are no newer ones.
    Findings butNot(String newer, String why) {
        return new Findings(System.currentTimeMillis(), newer, why, findings, lines);
    }
}
