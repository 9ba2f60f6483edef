package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A fact about what GPUs did, which a profiler's trace tells, or CUPTI.
///
/// @param label what it is about
/// @param text the fact
public record GpuActivity(String label, String text) {
    public static final String HEADING = "GPU activity";

    private static final int MOST_KERNELS = 3;
    private static final int MOST_CAUSES = 4;
    /// Causes of less than this share of the time are left out.
    private static final double LEAST_SHARE = 0.0005;

    /// The facts, those of each GPU together; none without a trace.
    public static List<GpuActivity> of(Report report) {
        List<GpuActivity> facts = new ArrayList<>();
        for (Table.Row device : report.section("gpu_time").rows()) {
            String label = "GPU " + device.text("device") + " of pid " + device.text("pid");
            facts.add(new GpuActivity(label, time(device)));
            facts.add(new GpuActivity(label + " was idle for", causes(report, device)));
            facts.add(new GpuActivity(label + " ran longest", kernels(report, device)));
        }
        Map<Boolean, List<Table.Row>> sources = report.section("gpu_traces").rows().stream()
                .collect(Collectors.partitioningBy(trace -> trace.text("path") == null));
        sources.getOrDefault(false, List.of()).forEach(trace -> facts.add(trace(trace)));
        sources.getOrDefault(true, List.of()).stream()
                .collect(Collectors.groupingBy(
                        window -> window.text("recording") + "/" + window.text("pid"), LinkedHashMap::new, Collectors.toList()))
                .values()
                .forEach(windows -> facts.add(recorded(windows)));
        return facts;
    }

    /// What each GPU did over time, by its name: the rows of `gpu_curve`.
    static Map<String, List<Table.Row>> curves(Report report) {
        ThreadLabel labels = new ThreadLabel(report);
        return report.section("gpu_curve").rows().stream()
                .collect(Collectors.groupingBy(
                        row -> labels.ofProcess(row) + ", GPU " + row.text("device"), LinkedHashMap::new, Collectors.toList()));
    }

    private static String time(Table.Row device) {
        long communication = device.integer("communication_ns");
        long profiled = Math.max(1, device.integer("profiled_ns"));
        return "kernels ran " + Quantity.percent(device, "busy_share") + " of " + Quantity.time(profiled)
                + (device.flag("in_steps") ? ", the steps after warm-up" : "")
                + (communication == 0
                        ? ""
                        : "; communication " + Quantity.percent((double) communication / profiled) + ", "
                                + Quantity.percent(device, "exposed_communication_share") + " not hidden by compute")
                + "; copies alone " + Quantity.percent((double) device.integer("exposed_copy_ns") / profiled)
                + "; idle " + Quantity.percent(device, "idle_share");
    }

    private static String causes(Report report, Table.Row device) {
        String causes = ofDevice(report, "gpu_idle_causes", device)
                .filter(row -> Double.parseDouble(row.requiredText("share")) >= LEAST_SHARE)
                .limit(MOST_CAUSES)
                .map(row -> row.text("cause") + " " + Quantity.percent(row, "share"))
                .collect(Collectors.joining(", "));
        return causes.isEmpty() ? "nothing" : causes;
    }

    private static String kernels(Report report, Table.Row device) {
        return ofDevice(report, "gpu_kernels", device)
                .limit(MOST_KERNELS)
                .map(row -> KernelName.brief(row.requiredText("name")) + " " + Quantity.percent(row, "share") + " ("
                        + Quantity.count(row.integer("runs")) + " x "
                        + Quantity.time(row.integer("sum_ns") / Math.max(1, row.integer("runs"))) + ")")
                .collect(Collectors.joining(", "));
    }

    private static Stream<Table.Row> ofDevice(Report report, String section, Table.Row device) {
        return report.section(section).rows().stream()
                .filter(row -> List.of("recording", "pid", "device").stream()
                        .allMatch(column -> row.integer(column) == device.integer(column)));
    }

    /// What the recorder asked CUPTI for, in windows.
    private static GpuActivity recorded(List<Table.Row> windows) {
        long activities = windows.stream().mapToLong(window -> window.integer("activities")).sum();
        long nanos = windows.stream().mapToLong(window -> window.integer("ended_ns") - window.integer("started_ns")).sum();
        Table.Row last = windows.getLast();
        return new GpuActivity(
                "CUPTI in pid " + last.text("pid"),
                Quantity.count(activities) + " kernels and copies in " + Quantity.time(nanos)
                        + (windows.size() == 1 ? "" : ", " + Quantity.count(windows.size()) + " windows of it")
                        + "; clock +-" + Quantity.time(last.integer("error_ns")));
    }

    private static GpuActivity trace(Table.Row trace) {
        String path = String.valueOf(trace.text("path"));
        String skipped = trace.integer("skipped") == 0
                ? ""
                : "; " + Quantity.count(trace.integer("skipped")) + " events were skipped: " + trace.text("skipped_because");
        if (trace.integer("activities") == 0) {
            // What was skipped may have been it.
            String why = skipped.isEmpty() ? ": profiled without a GPU, or with activities=[CPU] only" : skipped;
            return new GpuActivity(path, "no GPU activity in it" + why);
        }
        return new GpuActivity(
                path, Quantity.count(trace.integer("activities")) + " kernels and copies" + clock(trace) + skipped);
    }

    private static String clock(Table.Row trace) {
        String error = ", +-" + Quantity.time(trace.integer("error_ns"));
        return switch (String.valueOf(trace.text("clock"))) {
            case "its own" -> "";
            case "calls" -> "; its clock was compared by " + Quantity.count(trace.integer("matched")) + " calls" + error;
            default -> "; too few of its calls were recorded to compare clocks, so the time of day counts" + error;
        };
    }
}
