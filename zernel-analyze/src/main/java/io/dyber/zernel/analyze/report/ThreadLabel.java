package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Table;

/// The name of a training thread: the recording only where there are several, the thread only where it is not the
/// main one.
record ThreadLabel(Report report) {
    String of(Table.Row thread) {
        boolean several = report.section("recordings").rows().size() > 1;
        String recording = several ? "recording " + thread.text("recording") + " " : "";
        String tid = thread.integer("tid") == thread.integer("pid") ? "" : " tid " + thread.text("tid");
        return recording + rank(thread) + "pid " + thread.text("pid") + tid;
    }

    private String rank(Table.Row thread) {
        return report.section("processes").rows().stream()
                .filter(process -> process.integer("recording") == thread.integer("recording")
                        && process.integer("pid") == thread.integer("pid")
                        && !process.isNull("rank"))
                .map(process -> "rank " + process.text("rank") + " ")
                .findFirst()
                .orElse("");
    }
}
