package io.dyber.zernel.record.activity;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CuptiClockTest {
    @Test
    void onePairIsAnOffset() {
        CuptiClock clock = new CuptiClock();
        clock.add(1_000, 501_000, 20);
        assertThat(clock.monotonic(501_700)).isEqualTo(1_700);
        assertThat(clock.monotonic(400_000)).isEqualTo(-100_000);
        assertThat(clock.errorNanos()).isEqualTo(20);
    }

    @Test
    void betweenTwoPairsTheClockRunsEvenly() {
        CuptiClock clock = new CuptiClock();
        clock.add(1_000, 501_000, 20);
        clock.add(2_000, 502_100, 10); // it has gained 100 ns
        assertThat(clock.monotonic(501_000)).isEqualTo(1_000);
        assertThat(clock.monotonic(501_550)).isEqualTo(1_500);
        assertThat(clock.monotonic(502_100)).isEqualTo(2_000);
        assertThat(clock.monotonic(503_100)).isEqualTo(3_000);
        assertThat(clock.errorNanos()).isEqualTo(120);
    }

    @Test
    void onlyTheLastTwoPairsCount() {
        CuptiClock clock = new CuptiClock();
        clock.add(1_000, 501_000, 20);
        clock.add(2_000, 502_000, 10);
        clock.add(3_000, 403_000, 10); // somebody set it back
        assertThat(clock.monotonic(403_500)).isEqualTo(3_500);
        assertThat(clock.errorNanos()).isEqualTo(100_020);
    }

    @Test
    void aCallIsKnownUntilNewerOnesTakeItsPlace() {
        Launches launches = new Launches();
        launches.add(5, 700);
        launches.add(5, 800);
        assertThat(launches.start(5)).isEqualTo(700);
        assertThat(launches.start(6)).isZero();
        launches.add(5 + (1 << 17), 900);
        assertThat(launches.start(5)).isZero();
    }
}
