package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// GPU memory of one process on one device over time.
///
/// @param label process and device
/// @param reserved bytes allocated from the driver, per point of time
/// @param handed bytes handed out by PyTorch, per point of time
/// @param capacity bytes of the device, 0 when it is not known
public record GpuMemory(String label, List<Long> reserved, List<Long> handed, long capacity) {
    /// All of a report, the one with the highest peak first.
    public static List<GpuMemory> of(Report report) {
        Map<String, List<Table.Row>> curves = new LinkedHashMap<>();
        ThreadLabel labels = new ThreadLabel(report);
        for (Table.Row point : report.section("memory_curve").rows()) {
            String device = point.isNull("device") ? "" : ", GPU " + point.text("device");
            curves.computeIfAbsent(labels.ofProcess(point) + device, _ -> new ArrayList<>()).add(point);
        }
        List<GpuMemory> all = new ArrayList<>();
        curves.forEach((label, points) -> all.add(new GpuMemory(
                label, values(points, "live_bytes"), values(points, "allocated_bytes"), capacity(report, points.getFirst()))));
        all.sort(Comparator.comparingLong(GpuMemory::peak).reversed());
        return all;
    }

    /// The most of both, in bytes.
    public long peak() {
        long most = 0;
        for (int i = 0; i < reserved.size(); i++) {
            most = Math.max(most, Math.max(reserved.get(i), handed.get(i)));
        }
        return most;
    }

    private static List<Long> values(List<Table.Row> points, String column) {
        return points.stream().map(point -> point.integer(column)).toList();
    }

    /// A process may count devices otherwise than the driver; where all have the same memory that does not matter.
    private static long capacity(Report report, Table.Row point) {
        List<Long> sizes = report.section("gpus").rows().stream()
                .filter(gpu -> gpu.integer("recording") == point.integer("recording") && !gpu.isNull("memory_bytes"))
                .map(gpu -> gpu.integer("memory_bytes"))
                .distinct()
                .toList();
        return sizes.size() == 1 ? sizes.getFirst() : 0;
    }
}
