package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.report.table.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A fleet as one JSON object: `format`, `verdict`, `findings` with how often each was made, `ranks`, `missing_ranks`,
/// `recordings` and `unread_files`. Times are nanoseconds (`_ns`).
///
/// @param out where it goes; not closed here
public record FleetJson(PrintWriter out) {
    private static final List<Table.Column> COUNTS = List.of(
            new Table.Column("finding", "VARCHAR"),
            new Table.Column("times", "BIGINT"),
            new Table.Column("recordings", "BIGINT"),
            new Table.Column("median_lost_ns", "DOUBLE"));

    /// Writes all of it.
    public void write(Fleet fleet) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("format", JsonReport.FORMAT);
        members.put("verdict", JsonReport.verdict(fleet.verdict()));
        members.put("findings", JsonReport.table(fleet.report().diagnosis().findings()));
        members.put("finding_counts", counts(fleet));
        members.put("skipped_findings", JsonReport.skipped(fleet.report().diagnosis()));
        members.put("ranks", fleet.ranks());
        members.put("missing_ranks", fleet.missing());
        members.put("recordings", fleet.report().section("recordings"));
        members.put("unread_files", fleet.unread());
        new Json(out).document(members);
    }

    private static Table counts(Fleet fleet) {
        Map<String, Integer> positions = new LinkedHashMap<>();
        COUNTS.forEach(column -> positions.put(column.name(), positions.size()));
        List<Table.Row> rows = new ArrayList<>();
        for (Fleet.Count count : fleet.counts()) {
            rows.add(new Table.Row(
                    positions,
                    Arrays.asList(count.finding().name(), count.times(), (long) count.recordings().size(), count.medianLostNanos())));
        }
        return new Table(COUNTS, rows);
    }
}
