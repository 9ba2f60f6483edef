package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.Optional;

/// On which rank the ends of steps rested, as a sentence.
public final class CriticalPath {
    private CriticalPath() {}

    /// The rank with the largest share of it, and the longest step; empty of a job of one rank.
    public static Optional<String> of(Report report) {
        return report.section("critical_ranks").rows().stream().findFirst().map(CriticalPath::text);
    }

    private static String text(Table.Row rank) {
        return rank.text("who") + " (" + rank.text(rank.isNull("cause") ? "what" : "cause") + ") in "
                + Quantity.count(rank.integer("steps")) + " of " + Quantity.count(rank.integer("of_steps")) + " steps, for "
                + Quantity.percent(rank, "share") + " of the time of all; the longest is step "
                + Quantity.count(rank.integer("worst_step")) + ": " + rank.text("worst_path");
    }
}
