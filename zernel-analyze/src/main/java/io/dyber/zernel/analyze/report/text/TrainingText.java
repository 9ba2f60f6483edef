package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.PhaseWords;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.StepWords;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Percentages;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// One training thread: its steps, its phases, its waits for data.
record TrainingText(Page page, Report report) {
    private static final int MOST_EPOCHS = 6;

    void write(Table.Row thread) {
        page.heading(title(thread));
        phases(thread);
        StatesText.line(report, thread).ifPresent(states -> page.paragraph("  the thread is ", states));
        dataWait(thread);
        workers(thread);
        withoutCpu(thread);
    }

    private String title(Table.Row thread) {
        StringBuilder title = new StringBuilder((StepWords.infers(thread) ? "Inference" : "Training") + ": pid " + thread.text("pid"));
        if (thread.integer("tid") != thread.integer("pid")) {
            title.append(" tid ").append(thread.text("tid"));
        }
        if (report.section("recordings").rows().size() > 1) {
            title.append(" of recording ").append(thread.text("recording"));
        }
        return title + ", " + Quantity.time(thread.integer("wall_ns")) + " from its first call to its last";
    }

    private void phases(Table.Row thread) {
        List<Table.Row> phases = report.rowsOf("phases", thread);
        List<String> percents = Percentages.summingTo100(
                phases.stream().map(phase -> phase.integer("total_ns")).toList());
        int cells = page.width() >= 110 ? 40 : 24;
        PhaseWords words = PhaseWords.of(report, thread);
        for (int i = 0; i < phases.size(); i++) {
            Table.Row phase = phases.get(i);
            double share = phase.integer("total_ns") / (double) Math.max(1, phase.integer("wall_ns"));
            String name = phase.requiredText("phase");
            String bar = page.bar(share, cells);
            String perStep = perStep(thread, phase);
            page.line(String.format(Locale.ROOT, "  %-14s %6s %%  ", words.label(name), percents.get(i))
                    + page.colour(colourOf(name), bar) + " ".repeat(cells - bar.length())
                    + String.format(Locale.ROOT, "  %12s", perStep));
            parts(thread, name);
        }
        page.line(page.dim(String.format(
                Locale.ROOT, "  %-14s %6s %%  wall time%s", "", "100.0",
                words.onCpuOnly() ? "" : " on the CPU side, not GPU time")));
    }

    private String perStep(Table.Row thread, Table.Row phase) {
        long total = phase.integer("total_ns");
        if (total == 0) {
            boolean unseen = "NcclCollective".equals(phase.text("phase")) && !isProbed("nccl", thread);
            return unseen ? "not probed" : "none";
        }
        long steps = thread.integer("steps");
        return steps == 0 ? Quantity.time(total) : Quantity.time((double) total / steps) + "/step";
    }

    private boolean isProbed(String kind, Table.Row thread) {
        return report.section("kinds").rows().stream()
                .anyMatch(row -> kind.equals(row.text("kind"))
                        && row.integer("recording") == thread.integer("recording")
                        && List.of("attached", "unstated").contains(row.requiredText("state")));
    }

    /// What GpuCompute and OptimizerStep consist of, where that says more than the phase.
    private void parts(Table.Row thread, String phase) {
        List<Table.Row> parts = report.rowsOf("phase_parts", thread).stream()
                .filter(part -> phase.equals(part.text("phase")))
                .toList();
        if (parts.isEmpty() || !(phase.equals("GpuCompute") || parts.size() > 1)) {
            return;
        }
        List<String> texts = new ArrayList<>();
        for (Table.Row part : parts) {
            String inferred = part.flag("inferred") ? " (inferred: leads from batch to backward)" : "";
            texts.add(part.text("part") + " " + Quantity.percent(part, "share") + inferred);
        }
        page.paragraph("    ", String.join(", ", texts));
    }

    static int colourOf(String phase) {
        return switch (phase) {
            case "DataLoading" -> 33;
            case "GpuCompute" -> 32;
            case "NcclCollective" -> 35;
            case "OptimizerStep" -> 34;
            default -> 90;
        };
    }

    private void dataWait(Table.Row thread) {
        List<Table.Row> epochs = report.rowsOf("data_wait_by_epoch", thread);
        if (epochs.isEmpty()) {
            return;
        }
        page.blank();
        page.line("  " + page.bold(String.format(Locale.ROOT, "%-12s %9s %9s %9s %9s %9s %9s", "Data wait", "waits",
                "total", "first", "p50", "p99", "max")));
        for (Table.Row epoch : epochs.subList(0, Math.min(MOST_EPOCHS, epochs.size()))) {
            page.line(String.format(
                    Locale.ROOT,
                    "  %-12s %9s %9s %9s %9s %9s %9s",
                    "epoch " + epoch.text("epoch"),
                    Quantity.count(epoch.integer("waits")),
                    Quantity.time(epoch.integer("sum_ns")),
                    Quantity.time(epoch.integer("first_ns")),
                    Quantity.time(epoch.integer("p50_ns")),
                    Quantity.time(epoch.integer("p99_ns")),
                    Quantity.time(epoch.integer("max_ns"))));
        }
        if (epochs.size() > MOST_EPOCHS) {
            page.line("  and " + (epochs.size() - MOST_EPOCHS) + " more epochs");
        }
    }

    private void workers(Table.Row thread) {
        for (Table.Row crew : report.rowsOf("worker_crews", thread)) {
            page.paragraph("  ", String.format(
                    Locale.ROOT,
                    "%d data workers at once: waiting for an index %s, blocked elsewhere %s, in reads %s; at most %s on a CPU",
                    crew.integer("at_once"),
                    Quantity.percent(crew, "idle_share"),
                    Quantity.percent(crew, "blocked_share"),
                    Quantity.percent(crew, "io_share"),
                    Quantity.percent(crew, "cpu_share")));
        }
    }

    private void withoutCpu(Table.Row thread) {
        for (Table.Row delay : report.rowsOf("preemption", thread)) {
            page.paragraph("  ", String.format(
                    Locale.ROOT,
                    "ready to run without a CPU: %s of the time, %s in all, %s at most at once",
                    Quantity.percent(delay, "share"),
                    Quantity.time(delay.integer("runq_ns")),
                    Quantity.time(delay.integer("max_ns"))));
        }
    }
}
