package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.List;
import java.util.Locale;

/// Everything that does not fit on one screen: phases, GPU, communication, durations, processes.
public record DetailsText(Page page, Report report) {
    private static final int MOST_TRAININGS = 8;
    private static final int MOST_PROCESSES = 12;
    private static final int MOST_MARKS = 20;

    public void write() {
        RecordingText recordings = new RecordingText(page, report);
        for (Table.Row recording : report.section("recordings").rows()) {
            page.blank();
            recordings.probed(recording);
        }
        List<Table.Row> trainings = report.section("training_threads").rows();
        TrainingText training = new TrainingText(page, report);
        for (Table.Row thread : trainings.subList(0, Math.min(MOST_TRAININGS, trainings.size()))) {
            page.blank();
            training.write(thread);
        }
        if (trainings.size() > MOST_TRAININGS) {
            page.line("and " + (trainings.size() - MOST_TRAININGS) + " more training threads: zernel-analyze phases");
        }
        new GpuText(page, report).write();
        new RanksText(page, report).write();
        marks(report.section("marks").rows());
        page.blank();
        new DurationsText(page).write(report.section("percentiles"));
        page.blank();
        processes(report.section("processes"));
    }

    private void marks(List<Table.Row> marks) {
        if (marks.isEmpty()) {
            return;
        }
        page.blank();
        page.heading("Marks");
        for (Table.Row mark : marks.subList(0, Math.min(MOST_MARKS, marks.size()))) {
            String step = mark.isNull("step") ? "" : "  step " + mark.text("step");
            String after = mark.isNull("after_ns") ? "" : Quantity.time(mark.integer("after_ns"));
            page.line(String.format(
                    Locale.ROOT, "  %9s  %s%s", after, page.fit(String.valueOf(mark.text("text")), 60), step));
        }
        if (marks.size() > MOST_MARKS) {
            page.line("  and " + (marks.size() - MOST_MARKS) + " more");
        }
    }

    private void processes(Table processes) {
        page.heading("Processes");
        List<Table.Row> rows = processes.rows();
        for (Table.Row process : rows.subList(0, Math.min(MOST_PROCESSES, rows.size()))) {
            String label = String.format(
                    Locale.ROOT,
                    "  %-8s %-12s %10s events  %s",
                    process.text("pid"),
                    process.text("role"),
                    Quantity.count(process.integer("events")),
                    process.isNull("rank") ? "" : "rank " + process.text("rank") + "  ");
            String command = process.text("cmdline");
            String name = command == null || command.isEmpty() ? String.valueOf(process.text("comm")) : command;
            page.line(label + page.fit(name, page.width() - label.length()));
        }
        if (rows.size() > MOST_PROCESSES) {
            page.line("  and " + (rows.size() - MOST_PROCESSES) + " more");
        }
    }
}
