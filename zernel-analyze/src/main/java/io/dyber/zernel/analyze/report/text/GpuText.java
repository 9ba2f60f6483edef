package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// What was asked of GPUs and what the driver says about them. Nothing is printed of what was not recorded.
record GpuText(Page page, Report report) {
    private static final int MOST_KERNELS = 6;
    private static final int MOST_PROCESSES = 8;
    private static final List<String> SECTIONS = List.of("gpu_usage", "launches", "copies", "syncs", "memory_use");

    void write() {
        if (SECTIONS.stream().allMatch(section -> report.section(section).rows().isEmpty())) {
            return;
        }
        page.blank();
        page.heading("GPU, times of calls on the CPU");
        devices();
        List<Owner> processes = processes();
        for (Owner owner : processes.subList(0, Math.min(MOST_PROCESSES, processes.size()))) {
            process(owner);
        }
        if (processes.size() > MOST_PROCESSES) {
            page.line("  and " + (processes.size() - MOST_PROCESSES) + " more processes");
        }
    }

    private record Owner(long recording, long pid) {
        boolean owns(Table.Row row) {
            return row.integer("recording") == recording && !row.isNull("pid") && row.integer("pid") == pid;
        }
    }

    private List<Owner> processes() {
        Set<Owner> processes = new LinkedHashSet<>();
        for (String section : List.of("launches", "syncs", "copies", "memory_use")) {
            for (Table.Row row : report.section(section).rows()) {
                if (!row.isNull("pid")) {
                    processes.add(new Owner(row.integer("recording"), row.integer("pid")));
                }
            }
        }
        return List.copyOf(processes);
    }

    private void devices() {
        Map<List<Long>, Map<String, Table.Row>> devices = new LinkedHashMap<>();
        for (Table.Row row : report.section("gpu_usage").rows().stream().filter(row -> row.isNull("instance")).toList()) {
            devices.computeIfAbsent(
                            List.of(row.integer("recording"), row.integer("device")), _ -> new LinkedHashMap<>())
                    .put(row.requiredText("name"), row);
        }
        devices.forEach((device, metrics) -> page.paragraph(
                "  device " + device.get(1) + "  ", model(device) + String.join(", ", facts(metrics))));
    }

    private String model(List<Long> device) {
        for (Table.Row gpu : report.section("gpus").rows()) {
            if (List.of(gpu.integer("recording"), gpu.integer("device")).equals(device) && !gpu.isNull("name")) {
                return gpu.text("name") + ": ";
            }
        }
        return "";
    }

    private static List<String> facts(Map<String, Table.Row> metrics) {
        List<String> facts = new ArrayList<>();
        Table.Row busy = metrics.get("utilization");
        if (busy != null) {
            facts.add("a kernel ran " + mean(busy) + " % of the time (samples " + busy.integer("min_value") + " to "
                    + busy.integer("max_value") + " %)");
        }
        active(metrics, "sm_active", "SMs had work").ifPresent(facts::add);
        active(metrics, "tensor_active", "tensor cores").ifPresent(facts::add);
        active(metrics, "dram_active", "DRAM").ifPresent(facts::add);
        Table.Row used = metrics.get("memory_used");
        Table.Row total = metrics.get("memory_total");
        if (used != null) {
            facts.add("memory at most " + Quantity.size(used.integer("max_value"))
                    + (total == null ? "" : " of " + Quantity.size(total.integer("max_value"))));
        }
        Table.Row power = metrics.get("power");
        if (power != null) {
            facts.add(String.format(Locale.ROOT, "%.0f W", value(power) / 1000));
        }
        Table.Row temperature = metrics.get("temperature");
        if (temperature != null) {
            facts.add("at most " + temperature.integer("max_value") + " C");
        }
        return facts;
    }

    /// A hardware counter, in percent of the time.
    private static Optional<String> active(Map<String, Table.Row> metrics, String counter, String words) {
        return Optional.ofNullable(metrics.get(counter))
                .map(metric -> String.format(Locale.ROOT, "%s %.0f %%", words, value(metric) / 10_000));
    }

    private static String mean(Table.Row metric) {
        return String.format(Locale.ROOT, "%.0f", value(metric));
    }

    private static double value(Table.Row metric) {
        Double mean = metric.real("mean_value");
        return mean == null ? 0 : mean;
    }

    private void process(Owner owner) {
        String label = "  pid " + owner.pid() + "  ";
        List<String> sentences = new ArrayList<>();
        launches(owner, sentences);
        copies(owner, sentences);
        syncs(owner, sentences);
        for (String sentence : sentences) {
            page.paragraph(label, sentence);
            label = " ".repeat(label.length());
        }
        for (Table.Row memory : rows("memory_use", owner)) {
            page.paragraph(label, memory(memory));
            label = " ".repeat(label.length());
            curve(owner, memory, label);
        }
    }

    private List<Table.Row> rows(String section, Owner owner) {
        return report.section(section).rows().stream().filter(owner::owns).toList();
    }

    private void launches(Owner owner, List<String> sentences) {
        List<Table.Row> rows = rows("launches", owner);
        if (rows.isEmpty()) {
            return;
        }
        List<String> kernels = new ArrayList<>();
        for (Table.Row row : rows.subList(0, Math.min(MOST_KERNELS, rows.size()))) {
            kernels.add(page.fit(row.requiredText("kernel"), 40) + " " + Quantity.count(row.integer("launches")));
        }
        sentences.add(launched(rows) + " took "
                + Quantity.time(sum(rows, "sum_ns")) + " to enqueue: " + String.join(", ", kernels)
                + (rows.size() > MOST_KERNELS ? ", and " + (rows.size() - MOST_KERNELS) + " more kernels" : ""));
    }

    /// How many; where they were recorded in windows, how many that makes of all.
    private static String launched(List<Table.Row> rows) {
        long recorded = sum(rows, "launches");
        long all = sum(rows.stream().filter(row -> !row.isNull("all_launches")).toList(), "all_launches");
        String launches = " launches" + perStep(rows, "per_step");
        return all <= recorded
                ? Quantity.count(recorded) + launches
                : "about " + Quantity.count(all) + launches + ", of which the " + Quantity.count(recorded) + " recorded";
    }

    private void copies(Owner owner, List<String> sentences) {
        for (Table.Row row : rows("copies", owner)) {
            String memory = row.isNull("host_memory") ? "" : " " + row.text("host_memory");
            sentences.add(Quantity.count(row.integer("copies")) + " copies " + row.text("copy_kind") + memory
                    + perStep(List.of(row), "per_step") + ": " + Quantity.size(row.integer("bytes")) + " in "
                    + Quantity.time(row.integer("sum_ns")));
        }
    }

    private void syncs(Owner owner, List<String> sentences) {
        List<Table.Row> rows = rows("syncs", owner);
        if (rows.isEmpty()) {
            return;
        }
        List<Table.Row> ranks =
                rows.stream().filter(row -> "collective".equals(row.text("waits_for"))).toList();
        sentences.add("blocked " + Quantity.time(sum(rows, "sum_ns")) + " in " + Quantity.count(sum(rows, "syncs"))
                + " waits for the GPU" + perStep(rows, "per_step")
                + (ranks.isEmpty() ? "" : ", " + Quantity.time(sum(ranks, "sum_ns")) + " of it after a collective"));
    }

    private static String memory(Table.Row row) {
        StringBuilder text = new StringBuilder("memory");
        if (!row.isNull("device")) {
            text.append(" of device ").append(row.integer("device"));
        }
        text.append(": at most ").append(Quantity.size(row.integer("peak_bytes"))).append(" allocated");
        if (!row.isNull("torch_peak_bytes")) {
            text.append(", ").append(Quantity.size(row.integer("torch_peak_bytes"))).append(" handed out by PyTorch");
        }
        text.append("; allocations ").append(Quantity.count(row.integer("allocs")));
        text.append(", releases ").append(Quantity.count(row.integer("frees")));
        if (row.integer("failed_allocs") > 0) {
            text.append(", FAILED ").append(Quantity.count(row.integer("failed_allocs")));
        }
        if (row.integer("unknown_frees") > 0) {
            text.append(", of memory from before recording ").append(Quantity.count(row.integer("unknown_frees")));
        }
        return text.toString();
    }

    private void curve(Owner owner, Table.Row memory, String label) {
        List<Table.Row> points = rows("memory_curve", owner).stream()
                .filter(row -> row.isNull("device") == memory.isNull("device")
                        && row.integer("device") == memory.integer("device"))
                .toList();
        long peak = points.stream().mapToLong(row -> row.integer("live_bytes")).max().orElse(0);
        if (peak == 0) {
            return;
        }
        List<Double> heights = points.stream().map(row -> (double) row.integer("live_bytes")).toList();
        String text = page.sparkline(heights, (double) peak, page.width() - label.length() - 16);
        page.line(label + page.colour(36, text) + "  " + page.dim("top " + Quantity.size(peak)));
    }

    private static String perStep(List<Table.Row> rows, String column) {
        double sum = rows.stream()
                .mapToDouble(row -> row.isNull(column) ? 0 : Double.parseDouble(row.requiredText(column)))
                .sum();
        return sum == 0 ? "" : String.format(Locale.ROOT, sum < 10 ? " (%.1f a step)" : " (%.0f a step)", sum);
    }

    private static long sum(List<Table.Row> rows, String column) {
        return rows.stream().mapToLong(row -> row.integer(column)).sum();
    }
}
