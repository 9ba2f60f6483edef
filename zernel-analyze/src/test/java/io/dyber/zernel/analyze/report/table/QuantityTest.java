package io.dyber.zernel.analyze.report.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.report.table.Percentages;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuantityTest {
    @Test
    void countsAreReadable() {
        assertThat(Quantity.count(1_234_567)).isEqualTo("1,234,567");
    }

    @Test
    void aColumnsNameDecidesItsUnit() {
        assertThat(Quantity.ofColumn("dur_ns", 1_500_000L)).isEqualTo("1.50 ms");
        assertThat(Quantity.ofColumn("first_ns", 1_800_000_000_120_000_000L)).isEqualTo("08:00:00.120");
        assertThat(Quantity.ofColumn("read_bytes", 2_000L)).isEqualTo("2.00 kB");
        assertThat(Quantity.ofColumn("wait_share", 0.25)).isEqualTo("25.0 %");
        assertThat(Quantity.ofColumn("pid", 1234567L)).isEqualTo("1234567");
    }

    @Test
    void noLineEndsBetweenANumberAndItsUnit() {
        assertThat(Quantity.glued("loses 26.3 % of 4 steps, 1.5 GB at 2 MB/s; 3 runs"))
                .isEqualTo("loses 26.3\u00A0% of 4 steps, 1.5\u00A0GB at 2\u00A0MB/s; 3 runs");
    }

    @Test
    void aValueOfTheDriverHasItsUnit() {
        assertThat(Quantity.ofUnit(42_949_672_960.0, "bytes")).isEqualTo("42.9 GB");
        assertThat(Quantity.ofUnit(458_100.4, "mW")).isEqualTo("458 W");
        assertThat(Quantity.ofUnit(1_012_369_703, "mJ")).isEqualTo("1.01 MJ");
        assertThat(Quantity.ofUnit(75.59, "percent")).isEqualTo("76 %");
        assertThat(Quantity.ofUnit(1980, "MHz")).isEqualTo("1,980 MHz");
        assertThat(Quantity.ofUnit(0.03704, "bits")).isEqualTo("0.03704");
    }

    @Test
    void percentagesAddUpToExactly100() {
        assertThat(Percentages.summingTo100(List.of(1L, 1L, 1L))).containsExactly("33.4", "33.3", "33.3");
        assertThat(Percentages.summingTo100(List.of(0L, 7L))).containsExactly("0.0", "100.0");
        assertThat(Percentages.summingTo100(List.of(0L, 0L))).containsExactly("0.0", "0.0");
    }
}
