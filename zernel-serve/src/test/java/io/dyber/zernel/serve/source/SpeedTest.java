package io.dyber.zernel.serve.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class SpeedTest {
    @Test
    void aSpeedIsAFactorWithOrWithoutX() {
        assertThat(Speed.parse("10").factor()).isEqualTo(10);
        assertThat(Speed.parse("0.5x").factor()).isEqualTo(0.5);
        assertThat(Speed.parse("MAX").isMax()).isTrue();
        assertThat(Speed.parse("10x")).hasToString("10x");
        assertThat(Speed.parse("0.5")).hasToString("0.5x");
    }

    @Test
    void nothingElseIsASpeed() {
        assertThatThrownBy(() -> Speed.parse("fast")).hasMessage("'fast' is not a speed: say 1x, 10x, 0.5x or max");
        assertThatThrownBy(() -> Speed.parse("0")).hasMessage("a speed is above 0");
        assertThatThrownBy(() -> Speed.parse("-1")).isInstanceOf(IllegalArgumentException.class);
    }
}
