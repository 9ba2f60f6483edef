package io.dyber.zernel.record.nvml;

import java.util.List;

/// A counter of GPM: the mean of the interval between two samples.
///
/// @param name of its `gpu_sample` rows
/// @param unit of the value in the rows
/// @param id `nvmlGpmMetricId_t`
/// @param scale what one of the driver's units is in ours
/// @param most the largest possible value in our unit
record GpmMetric(String name, String unit, int id, double scale, long most) {
    /// Stands for an answer that cannot be true.
    static final long IMPOSSIBLE = -1;

    static final List<GpmMetric> ALL = List.of(
            share("sm_active", 2),
            share("sm_occupancy", 3),
            share("int_active", 4),
            share("tensor_active", 5),
            share("dram_active", 10),
            share("fp64_active", 11),
            share("fp32_active", 12),
            share("fp16_active", 13),
            rate("pcie_tx", 20),
            rate("pcie_rx", 21),
            rate("nvlink_rx", 60),
            rate("nvlink_tx", 61));

    /// The driver says percent.
    private static GpmMetric share(String name, int id) {
        return new GpmMetric(name, "ppm", id, 10_000, 1_000_000);
    }

    /// The driver says MiB per second. No link moves 100 TB.
    private static GpmMetric rate(String name, int id) {
        return new GpmMetric(name, "bytes/s", id, 1 << 20, 100_000_000_000_000L);
    }

    /// What the driver answered, in our unit, or [#IMPOSSIBLE].
    long value(double answer) {
        double value = answer * scale;
        return value >= 0 && value < most + 0.5 ? Math.round(value) : IMPOSSIBLE;
    }
}
