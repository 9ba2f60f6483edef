package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;

/// The name of a process or thread with its rank: the recording only where there are several, the thread only where it
/// is not the main one.
public record ThreadLabel(Report report) {
    public String of(Table.Row thread) {
        String tid = thread.integer("tid") == thread.integer("pid") ? "" : " tid " + thread.text("tid");
        return ofProcess(thread) + tid;
    }

    String ofProcess(Table.Row row) {
        boolean several = report.section("recordings").rows().size() > 1;
        String recording = several ? "recording " + row.text("recording") + " " : "";
        return recording + rank(row) + "pid " + row.text("pid");
    }

    private String rank(Table.Row row) {
        return report.section("processes").rows().stream()
                .filter(process -> process.integer("recording") == row.integer("recording")
                        && process.integer("pid") == row.integer("pid")
                        && !process.isNull("rank"))
                .map(process -> "rank " + process.text("rank") + " ")
                .findFirst()
                .orElse("");
    }
}
