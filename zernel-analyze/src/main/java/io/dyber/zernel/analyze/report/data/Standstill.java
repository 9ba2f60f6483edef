package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.List;
import java.util.Optional;

/// That a training thread stands still after its last step, to the end of what was recorded.
///
/// @param after when, from the start of the recording, in ns
/// @param nanos for how long
/// @param why what it waits for, or what the others wait for it to do
public record Standstill(long after, long nanos, String why) {
    public static Optional<Standstill> of(Report report, Table.Row thread) {
        List<Table.Row> hangs = report.section("hangs").rows();
        return hangs.stream()
                .filter(hang -> hang.integer("recording") == thread.integer("recording")
                        && hang.integer("pid") == thread.integer("pid")
                        && !hang.isNull("waited_ns"))
                // Another thread of the process may train on.
                .filter(hang -> thread.integer("last_ns") - hang.integer("since_ns") < hang.integer("waited_ns") / 2)
                .findFirst()
                .map(hang -> new Standstill(
                        hang.integer("since_ns") - start(report, hang), hang.integer("waited_ns"), why(hang, hangs)));
    }

    public String sentence() {
        return "Stands still from " + Quantity.time(after) + " after the start of the recording, for "
                + Quantity.time(nanos) + " to its end: " + why + ".";
    }

    private static long start(Report report, Table.Row hang) {
        return report.section("recordings").rows().stream()
                .filter(recording -> recording.integer("recording") == hang.integer("recording"))
                .mapToLong(recording -> recording.integer("started_ns"))
                .findFirst()
                .orElseThrow();
    }

    private static String why(Table.Row hang, List<Table.Row> hangs) {
        if (hang.requiredText("what").equals("missing rank")) {
            return "it never came to " + collective(hang) + ", to which " + ranks(hang, "entered") + " did; "
                    + (hang.isNull("open_call")
                            ? "its last call was " + hang.text("last_name")
                            : "it has not returned from " + hang.text("open_call"));
        }
        return "it has not returned from " + hang.text("name")
                + hangs.stream()
                        .filter(other -> other.requiredText("what").equals("missing rank"))
                        .findFirst()
                        .map(other -> ", and " + ranks(other, "missing") + " never came to " + collective(other))
                        .orElse("");
    }

    private static String collective(Table.Row hang) {
        return hang.text("name") + " (number " + hang.text("number") + ")";
    }

    private static String ranks(Table.Row hang, String column) {
        String ranks = hang.requiredText(column);
        return (ranks.contains(",") ? "ranks " : "rank ") + ranks;
    }
}
