package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import java.util.List;

/// A form of a diff.
public sealed interface DiffFormat permits DiffText, DiffMarkdown, DiffJson, DiffCsv {
    /// Writes the whole diff, and what the rules said of it.
    void write(Diff diff, List<DiffRule.Verdict> verdicts);
}
