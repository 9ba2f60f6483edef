package io.dyber.zernel.serve;

import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.List;

/// The series that say what the analyzer found.
final class FindingSeries {
    private FindingSeries() {}

    /// Writes them anew, each finding about a subject once, so that both metrics can be joined.
    static void export(SeriesTable series, Findings findings) {
        series.numbers(Metrics.FINDING_INFO).clear();
        series.numbers(Metrics.FINDING_LOST).clear();
        for (Findings.Found found : findings.worstOfEach()) {
            series.number(Metrics.FINDING_INFO,
                    List.of(found.name(), found.subject(), found.severity(), found.title())).value = 1;
            Double lost = found.lostMsPerStep();
            if (lost != null) {
                series.number(Metrics.FINDING_LOST, List.of(found.name(), found.subject())).value = lost / 1e3;
            }
        }
    }
}
