package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The report for a terminal: what was recorded, where the time went, what to fix, then the details.
public record TextReport(Page page) implements ReportFormat {
    private static final int MOST_TRAININGS = 8;
    private static final int MOST_PROCESSES = 12;
    private static final int MOST_MARKS = 20;

    @Override
    public void write(Report report) {
        for (Table.Row recording : report.section("recordings").rows()) {
            header(report, recording);
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
        if (trainings.isEmpty()) {
            page.blank();
            page.paragraph(
                    "No steps: ", "no thread had PyTorch's Optimizer.step or DataLoader regions, so there are no phases.");
        }
        page.blank();
        findings(report.diagnosis());
        new GpuText(page, report).write();
        new RanksText(page, report).write();
        marks(report.section("marks").rows());
        page.blank();
        new DurationsText(page).write(report.section("percentiles"));
        page.blank();
        processes(report.section("processes"));
    }

    private void header(Report report, Table.Row recording) {
        String path = recording.requiredText("path");
        String state = recording.flag("complete") ? "complete" : "INCOMPLETE";
        String simulated = recording.flag("simulated") ? "  SIMULATED: not a real job" : "";
        page.line(page.bold(path) + "  " + (state.equals("complete") ? state : page.severity("high", state))
                + page.severity("medium", simulated));
        page.paragraph("  ", facts(recording));
        String command = recording.text("command");
        if (command != null) {
            page.line("  $ " + page.fit(command, page.width() - 4));
        }
        incompleteBecause(recording);
        probed(report, recording.integer("recording"));
    }

    private static String facts(Table.Row recording) {
        List<String> facts = new ArrayList<>();
        facts.add(Quantity.count(recording.integer("events")) + " events");
        long length = recording.integer("ended_ns") - recording.integer("started_ns");
        if (!recording.isNull("ended_ns") && length > 0) {
            facts.add("in " + Quantity.time(length));
        }
        if (!recording.isNull("host")) {
            facts.add("on " + recording.text("host") + " (" + recording.integer("cpus") + " CPUs, Linux "
                    + recording.text("kernel") + ")");
        }
        if (!recording.isNull("stop")) {
            facts.add("until " + stop(recording.requiredText("stop")));
        }
        return String.join(" ", facts);
    }

    private static String stop(String stop) {
        return switch (stop) {
            case "command-exited" -> "the command ended";
            case "target-exited" -> "the process ended";
            case "duration" -> "the time was over";
            case "signal" -> "it was stopped";
            case "disk-full" -> "the disk was full";
            default -> stop;
        };
    }

    private void incompleteBecause(Table.Row recording) {
        String note = recording.text("note");
        if (note != null) {
            page.paragraph("  note: ", note);
        }
        String why = recording.text("incomplete_because");
        if (!recording.flag("complete") && why != null && !why.isEmpty()) {
            page.paragraph("  incomplete: ", why);
        }
    }

    /// Says what was looked for: without it, an absence means nothing.
    private void probed(Report report, long recording) {
        List<String> attached = new ArrayList<>();
        Map<String, List<String>> others = new TreeMap<>();
        for (Table.Row kind : report.section("kinds").rows()) {
            String name = kind.requiredText("kind");
            if (kind.integer("recording") != recording || name.equals("lost")) {
                continue;
            }
            String state = kind.requiredText("state");
            if (state.equals("attached") || state.equals("unstated")) {
                attached.add(name + " " + Quantity.count(kind.integer("events")));
            } else {
                others.computeIfAbsent(state, _ -> new ArrayList<>()).add(name + reason(kind.text("why")));
            }
        }
        page.paragraph("  probed: ", attached.isEmpty() ? "nothing" : String.join(", ", attached));
        others.forEach((state, kinds) ->
                page.paragraph("  not probed (" + state + "): ", String.join("; ", kinds)));
        skipped(report, recording);
        losses(report, recording);
        overhead(report, recording);
    }

    /// What recording itself cost, which the times of the report include.
    private void overhead(Report report, long recording) {
        for (Table.Row row : report.section("overhead").rows()) {
            if (row.integer("recording") != recording || row.isNull("hits")) {
                continue;
            }
            String calls = Quantity.count(row.integer("hits")) + " probed calls";
            page.paragraph("  overhead: ", row.isNull("cost_ns")
                    ? calls + ", of unknown cost: " + row.text("method")
                    : calls + " x " + Quantity.time(row.integer("cost_ns")) + " = " + Quantity.time(row.integer("cpu_ns"))
                            + " of CPU, " + Quantity.percent(shareOf(row)) + " of one"
                            + dearest(report, recording));
        }
    }

    private static String dearest(Report report, long recording) {
        List<String> processes = report.section("overhead_by_process").rows().stream()
                .filter(row -> row.integer("recording") == recording && shareOf(row) >= 0.0005)
                .limit(4)
                .map(row -> "pid " + row.text("pid") + " " + Quantity.percent(shareOf(row)))
                .toList();
        return processes.isEmpty() ? "" : " (" + String.join(", ", processes) + ")";
    }

    private static double shareOf(Table.Row row) {
        Double share = row.real("share");
        return share == null ? 0 : share;
    }

    /// Functions that were left alone on purpose, by reason.
    private void skipped(Report report, long recording) {
        Map<String, List<String>> reasons = new TreeMap<>();
        for (Table.Row probe : report.section("probes").rows()) {
            if (probe.integer("recording") == recording && "off".equals(probe.text("state"))) {
                String why = probe.text("why");
                reasons.computeIfAbsent(why == null ? "switched off" : why, _ -> new ArrayList<>())
                        .add(String.valueOf(probe.text("symbol")));
            }
        }
        reasons.forEach((why, symbols) -> page.paragraph("  functions not probed: ", symbols.stream()
                .distinct()
                .sorted()
                .collect(Collectors.joining(", ", "", " (" + why + ")"))));
    }

    private static String reason(@Nullable String why) {
        return why == null || why.isEmpty() ? "" : ": " + why;
    }

    private void losses(Report report, long recording) {
        List<String> losses = new ArrayList<>();
        for (Table.Row loss : report.section("losses").rows()) {
            if (loss.integer("recording") == recording) {
                Double share = loss.real("share");
                losses.add(Quantity.count(loss.integer("lost")) + " of " + loss.text("kind") + " ("
                        + Quantity.percent(share == null ? 0 : share) + ")");
            }
        }
        page.paragraph("  lost: ", losses.isEmpty() ? "nothing" : String.join(", ", losses));
    }

    private void findings(Diagnosis diagnosis) {
        if (diagnosis.findings().isEmpty()) {
            page.heading("Findings: none");
            page.paragraph("  ", "No finding of the library applies. That is no proof of health.");
        } else {
            page.heading("Findings, most lost time first");
        }
        new FindingsText(page).write(diagnosis);
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
            page.line(String.format("  %9s  %s%s", after, page.fit(String.valueOf(mark.text("text")), 60), step));
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
