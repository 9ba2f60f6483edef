package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import java.io.PrintWriter;
import java.util.List;

/// One table of a diff as comma-separated values; what the rules say is only in the exit status.
///
/// @param out where it goes; not closed here
/// @param part which table
public record DiffCsv(PrintWriter out, Part part) implements DiffFormat {
    /// The tables of a diff.
    public enum Part {
        /// The view `step_diff`.
        steps,
        /// The view `call_diff`.
        calls
    }

    @Override
    public void write(Diff diff, List<DiffRule.Verdict> verdicts) {
        new CsvTable(out).write(switch (part) {
            case steps -> diff.steps();
            case calls -> diff.calls();
        });
    }
}
