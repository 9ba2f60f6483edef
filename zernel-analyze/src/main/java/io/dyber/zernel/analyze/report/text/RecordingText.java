package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.Started;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What a recording is, and what it cannot show.
public record RecordingText(Page page, Report report) {
    private static final int MOST_NAMES = 4;
    /// As the recorder words it (`KindStates`), after the state.
    private static final String NOT_LOADED = "waiting: no recorded process has loaded ";

    /// Of the time of all CPUs, from which on it is told that the recorder had it.
    private static final double MUCH_TAKEN = 0.02;

    /// The recording in a line or more.
    ///
    /// @param whole whether more than the first line is shown
    public void write(Table.Row recording, boolean whole) {
        String path = recording.requiredText("path");
        String state = recording.flag("complete") ? "complete" : page.severity("high", "INCOMPLETE");
        String simulated = recording.flag("simulated") ? "  SIMULATED: not a real job" : "";
        String recorded = Started.text(recording).map(moment -> "recorded " + moment).orElse("");
        String date = whole || recorded.isEmpty() ? "" : "  " + recorded;
        page.line(page.bold(path) + "  " + state + page.severity("medium", simulated) + date);
        incompleteBecause(recording);
        if (!whole) {
            return;
        }
        page.paragraph("  ", facts(recording) + (recorded.isEmpty() ? "" : ", " + oneWord(recorded)));
        String command = recording.text("command");
        if (command != null && !command.isEmpty()) {
            page.line("  $ " + page.fit(command, page.width() - 4));
        }
        if (recording.requiredText("state").equals("trace")) {
            notInATrace();
        } else {
            limits(recording);
        }
    }

    /// What no trace says, so that nobody takes an absence for an answer.
    private void notInATrace() {
        page.paragraph(
                "  a profiler's trace, in which is not: ",
                "who had the CPUs, what threads waited for (locks, files, sockets), other processes (loader workers, "
                        + "neighbours), memory, what the GPU's driver samples, and how long all took without the profiler");
    }

    /// A date is not broken.
    private static String oneWord(String text) {
        return text.replace(' ', '\u00A0');
    }

    private String facts(Table.Row recording) {
        List<String> facts = new ArrayList<>();
        facts.add(Quantity.count(recording.integer("events")) + " events");
        long length = recording.integer("ended_ns") - recording.integer("started_ns");
        if (!recording.isNull("ended_ns") && length > 0) {
            facts.add("in " + Quantity.time(length));
        }
        if (!recording.isNull("host")) {
            boolean simulated = recording.flag("simulated");
            facts.add("on " + (simulated ? "a simulated machine" : recording.text("host")) + " (" + recording.integer("cpus")
                    + " CPUs" + (simulated ? "" : ", Linux " + recording.text("kernel")) + ")");
        }
        if (!recording.isNull("stop")) {
            facts.add("until " + exit(recording).orElseGet(() -> stop(recording.requiredText("stop"))));
        }
        return String.join(" ", facts);
    }

    private Optional<String> exit(Table.Row recording) {
        return report.section("command_exits").rows().stream()
                .filter(row -> row.integer("recording") == recording.integer("recording"))
                .findFirst()
                .map(row -> "the command " + row.requiredText("text"));
    }

    private static String stop(String stop) {
        return switch (stop) {
            case "command-exited" -> "the command ended";
            case "target-exited" -> "the process ended";
            case "duration" -> "the time limit";
            case "signal" -> "it was stopped";
            case "disk-full" -> "the disk was full";
            case "failed" -> "the recorder failed";
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

    /// Says what was looked for, without which an absence means nothing, and what recording cost.
    private void limits(Table.Row about) {
        long recording = about.integer("recording");
        Map<String, List<String>> reasons = new LinkedHashMap<>();
        for (Table.Row kind : report.section("kinds").rows()) {
            String state = kind.requiredText("state");
            // What is off was not asked for, which surprises nobody.
            if (kind.integer("recording") == recording && !List.of("attached", "unstated", "off").contains(state)) {
                reasons.computeIfAbsent(state + reason(kind.text("why")), _ -> new ArrayList<>())
                        .add(kind.requiredText("kind"));
            }
        }
        notLoaded(reasons);
        reasons.forEach((why, kinds) -> page.paragraph("  not probed: ", String.join(", ", kinds) + " (" + why + ")"));
        page.paragraph("  lost: ", losses(about) + overhead(about));
    }

    /// Several libraries that nobody has loaded are one reason: a program without PyTorch has none of them.
    private void notLoaded(Map<String, List<String>> reasons) {
        List<String> waiting = reasons.keySet().stream().filter(why -> why.startsWith(NOT_LOADED)).toList();
        if (waiting.size() > 1) {
            page.paragraph(
                    "  not probed: ",
                    few(waiting.stream().map(reasons::get).flatMap(List::stream).toList()) + " (" + NOT_LOADED
                            + waiting.stream().map(why -> why.substring(NOT_LOADED.length())).collect(Collectors.joining(", "))
                            + ")");
            waiting.forEach(reasons::remove);
        }
    }

    /// How many events of each kind there are, and what was left alone on purpose.
    void probed(Table.Row about) {
        long recording = about.integer("recording");
        page.heading("Recorded in " + about.text("path"));
        List<String> attached = new ArrayList<>();
        List<String> silent = new ArrayList<>();
        for (Table.Row kind : report.section("kinds").rows()) {
            String name = kind.requiredText("kind");
            boolean probed = List.of("attached", "unstated").contains(kind.requiredText("state"));
            if (kind.integer("recording") == recording && probed && !name.equals("lost")) {
                String why = kind.text("why");
                boolean inWindows = why != null && !why.isEmpty();
                if (kind.integer("events") == 0 && !inWindows) {
                    silent.add(name);
                } else {
                    attached.add(name + " " + Quantity.count(kind.integer("events")) + (inWindows ? " (" + why + ")" : ""));
                }
            }
        }
        page.paragraph("  events: ", attached.isEmpty() ? "none" : String.join(", ", attached));
        if (!silent.isEmpty()) {
            page.paragraph("  watched, none seen: ", String.join(", ", silent));
        }
        List<String> off = new ArrayList<>();
        for (Table.Row kind : report.section("kinds").rows()) {
            if (kind.integer("recording") == recording && kind.requiredText("state").equals("off")) {
                off.add(kind.requiredText("kind") + reason(kind.text("why")));
            }
        }
        if (!off.isEmpty()) {
            page.paragraph("  not asked for: ", String.join("; ", off));
        }
        Map<String, List<String>> reasons = new TreeMap<>();
        for (Table.Row probe : report.section("probes").rows()) {
            if (probe.integer("recording") == recording && "off".equals(probe.text("state"))) {
                String why = probe.text("why");
                reasons.computeIfAbsent(why == null ? "switched off" : why, _ -> new ArrayList<>())
                        .add(String.valueOf(probe.text("symbol")));
            }
        }
        reasons.forEach((why, symbols) -> page.paragraph(
                "  functions not probed: ", few(symbols.stream().distinct().sorted().toList()) + " (" + why + ")"));
    }

    /// All names, or of many some.
    private static String few(List<String> names) {
        return names.size() <= MOST_NAMES
                ? String.join(", ", names)
                : names.size() + ", such as " + String.join(", ", names.subList(0, MOST_NAMES));
    }

    private static String reason(@Nullable String why) {
        return why == null || why.isEmpty() ? "" : ": " + why;
    }

    private String losses(Table.Row about) {
        long recording = about.integer("recording");
        List<String> losses = new ArrayList<>();
        for (Table.Row loss : report.section("losses").rows()) {
            if (loss.integer("recording") == recording) {
                losses.add(Quantity.count(loss.integer("lost")) + " of " + loss.text("kind") + " ("
                        + Quantity.percent(loss, "share") + ")");
            }
        }
        String stop = about.isNull("stop") ? "" : about.requiredText("stop");
        String until = stop.equals("disk-full") || stop.equals("failed") ? " until " + stop(stop) : "";
        return (losses.isEmpty() ? "nothing" : String.join(", ", losses)) + until;
    }

    /// What recording itself cost, which the times of the report include: as the job's steps show, or by prediction.
    private String overhead(Table.Row about) {
        long recording = about.integer("recording");
        Optional<Table.Row> cost = report.section("detail_cost").rows().stream()
                .filter(row -> row.integer("recording") == recording)
                .findFirst();
        boolean predicted = cost.map(row -> row.requiredText("method").startsWith("predicted")).orElse(true);
        String words = cost.map(row -> row.requiredText("text")).orElse("");
        return (predicted ? predicted(recording, words) : "; recording cost: " + words) + activity(recording) + recorder(about);
    }

    /// What the recorder had of CPUs that the job might have had.
    private String recorder(Table.Row about) {
        return report.section("overhead").rows().stream()
                .filter(row -> row.integer("recording") == about.integer("recording") && !row.isNull("recorder_cpu_ns"))
                .findFirst()
                .map(row -> row.integer("recorder_cpu_ns"))
                .map(onCpu -> "; the recorder itself was on a CPU for " + Quantity.time(onCpu) + taken(about, onCpu))
                .orElse("");
    }

    /// Of all that the machine's CPUs can do, where it is worth a word.
    private static String taken(Table.Row about, long onCpu) {
        if (about.isNull("ended_ns") || about.isNull("cpus") || about.integer("cpus") == 0) {
            return "";
        }
        long cpus = about.integer("cpus");
        double share = (double) onCpu / cpus / Math.max(1, about.integer("ended_ns") - about.integer("started_ns"));
        return share < MUCH_TAKEN || share > 1
                ? ""
                : ", " + Quantity.percent(share) + " of the time of " + Quantity.counted(cpus, "CPU")
                        + ": a job that needs all of them may have taken longer by as much, and by up to "
                        + Quantity.percent(Math.min(share * cpus, 1)) + " where its threads wait for each other";
    }

    private Optional<Table.Row> systemCalls(long recording) {
        return report.section("system_call_cost").rows().stream()
                .filter(row -> row.integer("recording") == recording && row.integer("calls") > 0)
                .findFirst();
    }

    /// CUPTI works in the process, out of sight of what counts calls.
    private String activity(long recording) {
        boolean asked = report.sections().containsKey("gpu_traces")
                && report.section("gpu_traces").rows().stream()
                        .anyMatch(trace -> trace.integer("recording") == recording && "cupti".equals(trace.text("clock")));
        return asked ? "; what --gpu-activity costs the job is not in it" : "";
    }

    private String predicted(long recording, String words) {
        List<String> parts = new ArrayList<>();
        for (Table.Row row : report.section("overhead").rows()) {
            if (row.integer("recording") != recording || row.isNull("hits")) {
                continue;
            }
            parts.add(Quantity.count(row.integer("hits")) + " calls of probed functions, recorded or not,"
                    + (row.isNull("cost_ns")
                            ? " of unknown cost (" + row.text("method") + ")"
                            : " x " + Quantity.time(row.integer("cost_ns")) + " = "
                                    + Quantity.time(row.integer("cpu_ns")) + " of CPU time"));
        }
        systemCalls(recording).filter(row -> !row.isNull("cost_ns")).ifPresent(row -> parts.add(systemCalls(row)));
        if (parts.isEmpty()) {
            return "";
        }
        String share = words.isEmpty() ? "" : ", " + words + (words.endsWith("of one CPU") ? dearest(recording) : "");
        return "; recording cost: " + String.join(", and ", parts) + share;
    }

    private static String systemCalls(Table.Row row) {
        long skipped = row.isNull("skipped") ? 0 : row.integer("skipped");
        String others = skipped == 0 ? "" : " (and " + Quantity.count(skipped) + " that are no events and cost less)";
        return Quantity.count(row.integer("calls")) + " system calls x " + Quantity.time(row.integer("cost_ns")) + others
                + " = " + Quantity.time(row.integer("cpu_ns"));
    }

    private String dearest(long recording) {
        List<String> processes = report.section("overhead_by_process").rows().stream()
                .filter(row -> row.integer("recording") == recording && shareOf(row) >= 0.0005)
                .limit(4)
                .map(row -> "pid " + row.text("pid") + " " + Quantity.percent(row, "share"))
                .toList();
        return processes.isEmpty() ? "" : " (" + String.join(", ", processes) + ")";
    }

    private static double shareOf(Table.Row row) {
        Double share = row.real("share");
        return share == null ? 0 : share;
    }
}
