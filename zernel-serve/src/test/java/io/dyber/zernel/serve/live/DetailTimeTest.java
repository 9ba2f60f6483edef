package io.dyber.zernel.serve.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DetailTimeTest {
    private static final long SECOND = 1_000_000_000L;

    private static Optional<Footer.Detail> windows(long... seconds) {
        List<Footer.DetailWindow> windows = new ArrayList<>();
        for (int i = 0; i < seconds.length; i += 2) {
            windows.add(new Footer.DetailWindow(seconds[i] * SECOND, seconds[i + 1] * SECOND, "turn", true));
        }
        return Optional.of(new Footer.Detail("auto", "windows", 0.01, null, List.of("cuda_launch", "torch_alloc"), windows));
    }

    @Test
    void withoutWindowsItIsTheTimeThatHasPassed() {
        DetailTime time = new DetailTime();
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(160 * SECOND)).isEqualTo(60.0);
        assertThat(time.isWhole("cuda_launch")).isTrue();
    }

    @Test
    void withWindowsItIsTheirs() {
        DetailTime time = new DetailTime();
        time.source(() -> windows(110, 112, 120, 125));
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(105 * SECOND)).isZero();
        assertThat(time.secondsUntil(121 * SECOND)).isEqualTo(3.0);
        assertThat(time.secondsUntil(160 * SECOND)).isEqualTo(7.0);
        assertThat(time.isWhole("cuda_launch")).isFalse();
        assertThat(time.isWhole("cuda_sync")).isTrue();
    }

    @Test
    void eachRoundOfAReplayAddsItsWindows() {
        DetailTime time = new DetailTime();
        time.source(() -> windows(110, 112));
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(120 * SECOND)).isEqualTo(2.0);
        time.startOver(20 * SECOND);
        assertThat(time.secondsUntil(131 * SECOND)).isEqualTo(3.0);
    }

    @Test
    void windowsThatAreNoLongerToldCountOn() {
        DetailTime time = new DetailTime();
        time.source(() -> windows(110, 112));
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(115 * SECOND)).isEqualTo(2.0);
        time.source(() -> windows(120, 122));
        assertThat(time.secondsUntil(125 * SECOND)).isEqualTo(4.0);
        time.source(() -> windows(120, 123));
        assertThat(time.secondsUntil(126 * SECOND)).as("a window that was open").isEqualTo(5.0);
    }

    @Test
    void aRecordingThatSaysNothingAnyMoreAddsNoTime() {
        DetailTime time = new DetailTime();
        time.source(() -> windows(110, 112));
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(115 * SECOND)).isEqualTo(2.0);
        time.source(Optional::empty);
        assertThat(time.secondsUntil(160 * SECOND)).isEqualTo(2.0);
        assertThat(time.isWhole("cuda_launch")).isFalse();
    }

    @Test
    void theTimeBetweenTwoRecordingsIsNone() {
        DetailTime time = new DetailTime();
        time.source(() -> windows(110, 112));
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(115 * SECOND)).isEqualTo(2.0);
        time.end();
        time.source(Optional::empty);
        assertThat(time.secondsUntil(500 * SECOND)).isEqualTo(2.0);
        time.start(600 * SECOND);
        assertThat(time.secondsUntil(610 * SECOND)).isEqualTo(12.0);
    }

    @Test
    void beforeTheFirstEventNoTimeHasPassed() {
        DetailTime time = new DetailTime();
        assertThat(time.secondsUntil(160 * SECOND)).isZero();
        time.start(100 * SECOND);
        assertThat(time.secondsUntil(160 * SECOND)).isEqualTo(60.0);
    }
}
