package io.dyber.zernel.record.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class GpmMetricTest {
    private static GpmMetric metric(String name) {
        return GpmMetric.ALL.stream().filter(metric -> metric.name().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void aShareIsInMillionths() {
        assertThat(metric("sm_active").value(77.1234)).isEqualTo(771_234);
        assertThat(metric("tensor_active").value(0)).isZero();
        assertThat(metric("dram_active").value(100)).isEqualTo(1_000_000);
    }

    @Test
    void aRateIsInBytes() {
        assertThat(metric("pcie_rx").value(83.5)).isEqualTo(87_556_096);
        assertThat(metric("nvlink_tx").value(450_000)).isEqualTo(471_859_200_000L);
    }

    @Test
    void whatCannotBeIsNoValue() {
        for (double answer : new double[] {Double.NaN, -0.001, 100.001, Double.POSITIVE_INFINITY, 1e300}) {
            assertThat(metric("fp32_active").value(answer)).as("%s %%", answer).isEqualTo(GpmMetric.IMPOSSIBLE);
        }
        for (double answer : new double[] {Double.NaN, -1, Double.POSITIVE_INFINITY, 0x1p64}) {
            assertThat(metric("pcie_tx").value(answer)).as("%s MiB/s", answer).isEqualTo(GpmMetric.IMPOSSIBLE);
        }
    }

    @Test
    void idsAreThoseOfTheHeader() {
        assertThat(GpmMetric.ALL).extracting(metric -> metric.id() + " " + metric.name()).containsExactly(
                "2 sm_active", "3 sm_occupancy", "4 int_active", "5 tensor_active", "10 dram_active",
                "11 fp64_active", "12 fp32_active", "13 fp16_active", "20 pcie_tx", "21 pcie_rx", "60 nvlink_rx",
                "61 nvlink_tx");
    }
}
