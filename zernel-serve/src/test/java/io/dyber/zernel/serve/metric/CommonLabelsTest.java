package io.dyber.zernel.serve.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CommonLabelsTest {
    @Test
    void aValueMayBeAnyTextAndHaveEqualSigns() {
        assertThat(CommonLabels.parse(List.of("cluster=a b", "_team=x=y", "Env9=\"")).values())
                .containsExactly(Map.entry("cluster", "a b"), Map.entry("_team", "x=y"), Map.entry("Env9", "\""));
    }

    @Test
    void theyComeAfterASeriesOwn() {
        assertThat(CommonLabels.parse(List.of("cluster=a")).with(Map.of("pid", "7")))
                .containsExactly(Map.entry("pid", "7"), Map.entry("cluster", "a"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "cluster | reading label 'cluster': a label is NAME=VALUE",
        "=a | reading label '=a': a name has letters, digits and _, and no digit first",
        "9a=b | reading label '9a=b': a name has letters, digits and _, and no digit first",
        "my-team=b | reading label 'my-team=b': a name has letters, digits and _, and no digit first",
        "__name__=b | reading label '__name__=b': names that begin with __ are Prometheus' own",
        "cluster= | reading label 'cluster=': the value is empty, which is the same as no label",
    })
    void whatIsNoLabelIsSaidInOneLine(String label, String message) {
        assertThatThrownBy(() -> CommonLabels.parse(List.of(label)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pid", "rank", "gpu_id", "le", "quantile", "alertname", "severity", "host"})
    void aNameOfOursIsRefused(String name) {
        assertThatThrownBy(() -> CommonLabels.parse(List.of(name + "=x")))
                .hasMessage("reading label '" + name + "=x': series have a label '" + name + "' already; give another name");
    }

    @Test
    void aNameIsGivenOnce() {
        assertThatThrownBy(() -> CommonLabels.parse(List.of("a=1", "a=2")))
                .hasMessage("reading label 'a=2': 'a' is given twice");
    }
}
