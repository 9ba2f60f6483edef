package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DiffRuleTest {
    /// Before 100 ms, after 110 ms at the median; the 99th percentiles 200 and 300 ms.
    @ParameterizedTest
    @CsvSource({
        "step_p50 > +5%, true",
        "step > +5%, true",
        "step_p50 > +10%, false",
        "step_p50 > +9.9ms, true",
        "step_p50>+11ms, false",
        "step_p50 > 109ms, true",
        "step_p50 > 0.2s, false",
        "step_p50 < 200ms, true",
        "step_p50 < -5%, false",
        "step_p99 > +49%, true",
        "step_p99 > +51%, false",
        "launches > +5%, false",
        "launches > 0, false"
    })
    void boundsAreOnTheChangeWithASignAndOnTheValueWithout(String rule, boolean broken) {
        assertThat(DiffRule.parse(rule).judge(diff("more")).broken()).isEqualTo(broken);
    }

    @Test
    void aChangeThatChanceExplainsDoesNotFail() {
        DiffRule.Verdict verdict = DiffRule.parse("step_p50 > +5%").judge(diff("same"));
        assertThat(verdict.broken()).isFalse();
        assertThat(verdict.why())
                .isEqualTo("step_p50 100.000 ms before, 110.000 ms after, but chance alone may make this difference");
        assertThat(DiffRule.parse("step_p50 > 105ms").judge(diff("same")).broken()).isTrue();
    }

    @Test
    void whatIsNoRuleIsSaid() {
        assertThatThrownBy(() -> DiffRule.parse("faster please"))
                .hasMessage("'faster please' is not a rule (e.g. 'step_p50 > +5%', 'step_p99 > 250ms')");
        assertThatThrownBy(() -> DiffRule.parse("speed > +5%"))
                .hasMessageStartingWith("'speed' is not a measure of a step: the measures are step, data_loading, ");
        assertThatThrownBy(() -> DiffRule.parse("step > 5%"))
                .hasMessage("'step > 5%' is not a rule: percent are of a change, so write a sign, as in 'step > +5%'");
    }

    private static Diff diff(String verdict) {
        List<String> columns = List.of("measure", "before_p50", "after_p50", "before_p99", "after_p99", "verdict");
        Map<String, Integer> positions = Map.of(
                "measure", 0, "before_p50", 1, "after_p50", 2, "before_p99", 3, "after_p99", 4, "verdict", 5);
        Table steps = new Table(
                columns.stream().map(name -> new Table.Column(name, "DOUBLE")).toList(),
                List.of(new Table.Row(positions, List.of("step", 100e6, 110e6, 200e6, 300e6, verdict))));
        return new Diff(List.of(), List.of(), steps, new Table(List.of(), List.of()), new Table(List.of(), List.of()));
    }
}
