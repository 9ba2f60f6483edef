package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.List;
import java.util.Locale;

/// What ranks send each other, who comes late, and how long threads wait. Nothing is printed of what was not recorded.
record RanksText(Page page, Report report) {
    private static final int MOST = 10;

    void write() {
        List<Table.Row> collectives = report.section("collectives").rows();
        List<Table.Row> waits = report.section("dist_waits").rows();
        if (collectives.isEmpty() && waits.isEmpty()) {
            return;
        }
        page.blank();
        page.heading("Communication, times to enqueue; what the GPUs need is not known from here");
        for (Table.Row row : collectives.subList(0, Math.min(MOST, collectives.size()))) {
            page.paragraph("  ", collective(row));
        }
        if (collectives.size() > MOST) {
            page.line("  and " + (collectives.size() - MOST) + " more: zernel-analyze nccl");
        }
        for (Table.Row row : report.section("late_ranks").rows()) {
            if (row.integer("times_last") * 2 > row.integer("collectives")) {
                page.paragraph("  ", late(row));
            }
        }
        for (Table.Row row : waits.subList(0, Math.min(MOST, waits.size()))) {
            page.paragraph("  ", wait(row));
        }
    }

    private static String collective(Table.Row row) {
        StringBuilder text = new StringBuilder(row.requiredText("name"));
        for (String column : List.of("op", "dtype", "size")) {
            text.append(row.isNull(column) ? "" : " " + row.text(column));
        }
        text.append(": ").append(Quantity.counted(row.integer("calls"), "call"));
        if (!row.isNull("nranks")) {
            text.append(" in ").append(row.integer("ranks")).append(" of ").append(row.integer("nranks")).append(" ranks");
        }
        text.append(", ").append(Quantity.size(row.integer("bytes")));
        text.append(", p50 ").append(Quantity.time(row.integer("p50_ns")));
        if (row.integer("failed") > 0) {
            text.append(", ").append(Quantity.count(row.integer("failed"))).append(" FAILED");
        }
        if (!row.isNull("skew_p50_ns")) {
            text.append("; the last rank comes ").append(Quantity.time(row.integer("skew_p50_ns")));
            text.append(" after the first (p50), ").append(Quantity.time(row.integer("skew_p99_ns"))).append(" (p99)");
        }
        return text.toString();
    }

    private static String late(Table.Row row) {
        return String.format(
                Locale.ROOT,
                "rank %d came last to %s of %s collectives of its communicator, %s after the first (p50)",
                row.integer("rank"),
                Quantity.count(row.integer("times_last")),
                Quantity.count(row.integer("collectives")),
                Quantity.time(row.integer("skew_p50_ns")));
    }

    private static String wait(Table.Row row) {
        return "pid " + row.text("pid") + " spent " + Quantity.time(row.integer("sum_ns")) + " in "
                + Quantity.counted(row.integer("waits"), "call") + " of " + row.text("name") + ", p99 "
                + Quantity.time(row.integer("p99_ns"));
    }
}
