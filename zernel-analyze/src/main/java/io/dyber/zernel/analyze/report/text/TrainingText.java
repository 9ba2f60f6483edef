package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.PhaseWords;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.StepWords;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Percentages;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

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

    /// Where the time of training steps went, as their mean in the summary; without such steps, that of the thread.
    private void phases(Table.Row thread) {
        long steps = steadySteps(thread);
        List<Table.Row> phases = report.rowsOf("phases", thread);
        List<Long> times = phases.stream().map(phase -> time(thread, phase.requiredText("phase"))).toList();
        List<String> percents = Percentages.summingTo100(times);
        long total = Math.max(1, times.stream().mapToLong(Long::longValue).sum());
        int cells = page.width() >= 110 ? 40 : 24;
        PhaseWords words = PhaseWords.of(report, thread);
        for (int i = 0; i < phases.size(); i++) {
            String name = phases.get(i).requiredText("phase");
            String bar = page.bar(times.get(i) / (double) total, cells);
            page.line(String.format(Locale.ROOT, "  %-14s %6s %%  ", words.label(name), percents.get(i))
                    + page.colour(colourOf(name), bar) + " ".repeat(cells - bar.length())
                    + String.format(Locale.ROOT, "  %12s", perStep(thread, name, times.get(i))));
            parts(thread, name, total);
        }
        page.line(page.dim(String.format(
                Locale.ROOT, "  %-14s %6s %%  %swall time%s", "", "100.0",
                steps == 0 ? "" : "of " + Quantity.counted(steps, StepWords.steady(thread)) + ", ",
                words.onCpuOnly() ? "" : " on the CPU side, not GPU time")));
    }

    private static long steadySteps(Table.Row thread) {
        return thread.integer("steady_steps");
    }

    /// Time of a phase in the training steps, or in all.
    private long time(Table.Row thread, String phase) {
        return parts(thread, phase).mapToLong(part -> time(thread, part)).sum();
    }

    private static long time(Table.Row thread, Table.Row part) {
        return part.integer(steadySteps(thread) == 0 ? "total_ns" : "train_ns");
    }

    private Stream<Table.Row> parts(Table.Row thread, String phase) {
        return report.rowsOf("phase_parts", thread).stream().filter(part -> phase.equals(part.text("phase")));
    }

    private String perStep(Table.Row thread, String phase, long total) {
        if (total == 0) {
            boolean unseen = "NcclCollective".equals(phase) && !isProbed("nccl", thread);
            return unseen ? "not probed" : "none";
        }
        long steps = steadySteps(thread);
        return steps == 0 ? Quantity.time(total) : Quantity.time((double) total / steps) + "/step";
    }

    private boolean isProbed(String kind, Table.Row thread) {
        return report.section("kinds").rows().stream()
                .anyMatch(row -> kind.equals(row.text("kind"))
                        && row.integer("recording") == thread.integer("recording")
                        && List.of("attached", "unstated").contains(row.requiredText("state")));
    }

    /// What GpuCompute and OptimizerStep consist of, where that says more than the phase.
    private void parts(Table.Row thread, String phase, long total) {
        List<Table.Row> parts = parts(thread, phase)
                .filter(part -> time(thread, part) > 0)
                .sorted(Comparator.comparingLong(part -> -time(thread, part)))
                .toList();
        if (parts.isEmpty() || !(phase.equals("GpuCompute") || parts.size() > 1)) {
            return;
        }
        List<String> texts = new ArrayList<>();
        for (Table.Row part : parts) {
            String inferred = part.flag("inferred") ? " (inferred: leads from batch to backward)" : "";
            texts.add(part.text("part") + " " + Quantity.percent((double) time(thread, part) / total) + inferred);
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
                    "%s at once: waiting for an index %s, blocked elsewhere %s, in reads %s; at most %s on a CPU",
                    Quantity.counted(crew.integer("at_once"), "data worker"),
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
