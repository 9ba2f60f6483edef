package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.KernelName;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.StepWords;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

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
        report.section("training_threads").rows().stream()
                .filter(thread -> thread.integer("steps") > 0)
                .findFirst()
                .ifPresent(thread -> page.paragraph("  ", "sums are of all of the recording with its start-up, numbers a step of "
                        + StepWords.steady(thread) + "s after warm-up"));
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
                "  device " + device.get(1) + "  ", model(device) + facts(metrics, busy(device.getFirst(), devices.size()))));
    }

    /// What the verdict says of the only process with a GPU: one number for one fact.
    private Optional<Double> busy(long recording, int devices) {
        List<Table.Row> limits = report.section("gpu_limit").rows().stream()
                .filter(row -> row.integer("recording") == recording)
                .toList();
        return devices == 1 && limits.size() == 1
                ? Optional.ofNullable(limits.getFirst().real("busy")).map(share -> 100 * share)
                : Optional.empty();
    }

    private String model(List<Long> device) {
        for (Table.Row gpu : report.section("gpus").rows()) {
            if (List.of(gpu.integer("recording"), gpu.integer("device")).equals(device) && !gpu.isNull("name")) {
                return gpu.text("name") + ": ";
            }
        }
        return "";
    }

    /// What the driver sampled: of a GPU that a process trains on, while it did; before, it loads and compiles.
    private static String facts(Map<String, Table.Row> metrics, Optional<Double> verdict) {
        Map<Boolean, Map<String, Table.Row>> known = metrics.entrySet().stream()
                .collect(Collectors.partitioningBy(
                        metric -> trained(metric.getValue()).isPresent(),
                        Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
        Map<String, Table.Row> trained = known.getOrDefault(true, Map.of());
        List<String> facts = new ArrayList<>(means(trained, GpuText::trained, verdict));
        String training = facts.isEmpty() ? "" : "in steps after warm-up " + String.join(", ", facts);
        // Where training has samples of how busy the GPU was, one number says that.
        Map<String, Table.Row> others = new HashMap<>(known.getOrDefault(false, Map.of()));
        if (trained.containsKey("busy") || trained.containsKey("utilization")) {
            others.keySet().removeAll(List.of("busy", "utilization"));
        }
        List<String> all = new ArrayList<>(means(others, row -> Optional.ofNullable(row.real("mean_value")), Optional.empty()));
        all.addAll(most(metrics));
        return training + (training.isEmpty() || all.isEmpty() ? "" : "; in all of the recording ") + String.join(", ", all);
    }

    private static List<String> means(
            Map<String, Table.Row> metrics, Function<Table.Row, Optional<Double>> value, Optional<Double> verdict) {
        List<String> facts = new ArrayList<>();
        Optional<Double> active = Optional.ofNullable(metrics.get("sm_active")).flatMap(value).map(ppm -> ppm / 10_000);
        // The driver takes the two at other times; SMs with work have a kernel, so the lower of the two tells nothing.
        Optional.ofNullable(metrics.getOrDefault("busy", metrics.get("utilization")))
                .flatMap(value)
                .map(mean -> verdict.orElse(mean))
                .filter(mean -> mean >= active.orElse(0.0))
                .ifPresent(mean -> facts.add(String.format(Locale.ROOT, "a kernel ran %.0f %% of the time", mean)));
        active.ifPresent(percent -> facts.add(String.format(Locale.ROOT, "SMs had work %.0f %%", percent)));
        counter(metrics, "tensor_active", value).ifPresent(percent -> facts.add("tensor cores " + percent));
        counter(metrics, "dram_active", value).ifPresent(percent -> facts.add("DRAM " + percent));
        Optional.ofNullable(metrics.get("power"))
                .flatMap(value)
                .ifPresent(power -> facts.add(String.format(Locale.ROOT, "%.0f W", power / 1000)));
        return facts;
    }

    private static Optional<Double> trained(Table.Row row) {
        return row.positions().containsKey("trained_value") ? Optional.ofNullable(row.real("trained_value")) : Optional.empty();
    }

    private static List<String> most(Map<String, Table.Row> metrics) {
        List<String> most = new ArrayList<>();
        Table.Row used = metrics.get("memory_used");
        Table.Row total = metrics.get("memory_total");
        if (used != null) {
            most.add("memory at most " + Quantity.size(used.integer("max_value"))
                    + (total == null ? "" : " of " + Quantity.size(total.integer("max_value"))));
        }
        Table.Row temperature = metrics.get("temperature");
        if (temperature != null) {
            most.add("at most " + temperature.integer("max_value") + " C");
        }
        return most;
    }

    /// A hardware counter, in percent of the time.
    private static Optional<String> counter(
            Map<String, Table.Row> metrics, String name, Function<Table.Row, Optional<Double>> value) {
        return Optional.ofNullable(metrics.get(name))
                .flatMap(value)
                .map(ppm -> String.format(Locale.ROOT, "%.0f %%", ppm / 10_000));
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
            kernels.add(page.fit(KernelName.brief(row.requiredText("kernel")), 64) + " " + Quantity.count(row.integer("launches")));
        }
        sentences.add(launched(rows) + " took "
                + Quantity.time(sum(rows, "sum_ns")) + " to enqueue: " + String.join(", ", kernels)
                + (rows.size() > MOST_KERNELS ? ", and " + (rows.size() - MOST_KERNELS) + " more kernels" : ""));
    }

    /// How many; where they were recorded in windows, how many that makes of all.
    private static String launched(List<Table.Row> rows) {
        long recorded = sum(rows, "launches");
        boolean partly = rows.stream().anyMatch(row -> row.isNull("all_launches"));
        long all = sum(rows.stream().filter(row -> !row.isNull("all_launches")).toList(), "all_launches");
        String launches = " launches" + perStep(rows, "per_step");
        if (partly) {
            return Quantity.count(recorded) + launches + " recorded, not all,";
        }
        return all <= recorded
                ? Quantity.count(recorded) + launches
                : "about " + Quantity.count(all) + launches + ", of which the " + Quantity.count(recorded) + " recorded";
    }

    private void copies(Owner owner, List<String> sentences) {
        for (Table.Row row : rows("copies", owner)) {
            String memory = row.isNull("host_memory") ? "" : " " + row.text("host_memory");
            String what = "memset".equals(row.text("copy_kind")) ? " fills" : " copies " + row.text("copy_kind") + memory;
            sentences.add(Quantity.count(row.integer("copies")) + what + perStep(List.of(row), "per_step") + ": "
                    + Quantity.size(row.integer("bytes")) + " in " + Quantity.time(row.integer("sum_ns")));
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

    /// Nothing where the process has no steps.
    private static String perStep(List<Table.Row> rows, String column) {
        List<Table.Row> known = rows.stream().filter(row -> !row.isNull(column)).toList();
        if (known.isEmpty()) {
            return "";
        }
        double sum = known.stream()
                .mapToDouble(row -> Double.parseDouble(row.requiredText(column)))
                .sum();
        if (sum == 0) {
            return " (none in a step)";
        }
        return String.format(Locale.ROOT, sum < 0.05 ? " (%.2g a step)" : sum < 10 ? " (%.1f a step)" : " (%.0f a step)", sum);
    }

    private static long sum(List<Table.Row> rows, String column) {
        return rows.stream().mapToLong(row -> row.integer(column)).sum();
    }
}
