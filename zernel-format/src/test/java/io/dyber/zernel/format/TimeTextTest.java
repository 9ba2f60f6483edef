package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TimeTextTest {
    @ParameterizedTest
    @CsvSource({
        "50us, PT0.00005S", "250ms, PT0.25S", "10s, PT10S", "5m, PT5M", "1h, PT1H", "2d, PT48H", "0s, PT0S",
        "999999999s, PT999999999S"
    })
    void aNumberAndAUnitAreADuration(String text, Duration meant) {
        assertThat(TimeText.parse(text)).contains(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "5 s", "s", "-5s", "1.5s", "5S", "5min", "1m30s", "9999999999s", "999999999d"})
    void anythingElseIsNone(String text) {
        assertThat(TimeText.parse(text)).isEmpty();
    }

    @Test
    void timesHaveThreeDigitsAndAUnit() {
        assertThat(TimeText.of(0)).isEqualTo("0 ns");
        assertThat(TimeText.of(999)).isEqualTo("999 ns");
        assertThat(TimeText.of(1_234)).isEqualTo("1.23 us");
        assertThat(TimeText.of(12_345_678)).isEqualTo("12.3 ms");
        assertThat(TimeText.of(999_600)).isEqualTo("1.00 ms");
        assertThat(TimeText.of(99_960_000)).isEqualTo("100 ms");
        assertThat(TimeText.of(12e9)).isEqualTo("12.0 s");
        assertThat(TimeText.of(125e9)).isEqualTo("2 m 05 s");
    }
}
