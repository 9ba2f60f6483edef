package io.dyber.zernel.serve.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Against exact percentiles of 1 million values; `-Dpercentiles.values=10000000` for 10.
final class DurationsTest {
    private static final int VALUES = Integer.getInteger("percentiles.values", 1_000_000);
    private static final double[] QUANTILES = {0.5, 0.9, 0.99, 0.999};
    private static final long SECOND = 1_000_000_000L;
    private static final long START = 1_700_000_000L * SECOND;
    private static final long SEED = 42;

    /// What durations look like, in nanoseconds.
    enum Shape {
        /// Launches: most take 5 us, some a hundred times as long.
        LOGNORMAL {
            @Override
            long draw(SplittableRandom random) {
                return (long) (5_000 * Math.exp(1.1 * random.nextGaussian()));
            }
        },
        /// Reads: from the page cache or from a disk.
        TWO_PEAKS {
            @Override
            long draw(SplittableRandom random) {
                double middle = random.nextInt(100) < 97 ? 2_000 : 8_000_000;
                return (long) (middle * (1 + 0.1 * Math.abs(random.nextGaussian())));
            }
        },
        /// Waits without a bound.
        HEAVY_TAIL {
            @Override
            long draw(SplittableRandom random) {
                return (long) (50_000 / Math.pow(1 - random.nextDouble(), 1 / 1.2));
            }
        },
        UNIFORM {
            @Override
            long draw(SplittableRandom random) {
                return random.nextLong(1, 400_000_000);
            }
        };

        abstract long draw(SplittableRandom random);
    }

    @ParameterizedTest
    @EnumSource
    void percentilesSinceTheStartAreWithinOnePercent(Shape shape) {
        SplittableRandom random = new SplittableRandom(SEED);
        Durations durations = new Durations();
        long[] values = new long[VALUES];
        for (int i = 0; i < VALUES; i++) {
            values[i] = shape.draw(random);
            durations.record(values[i], START + 600 * SECOND * i / VALUES);
        }
        expect(durations, Window.START, START + 600 * SECOND, values);
        assertThat(durations.count()).isEqualTo(VALUES);
        assertThat(durations.sumSeconds())
                .isCloseTo(Arrays.stream(values).sum() / 1e9, withinPercentage(1e-9));
    }

    @ParameterizedTest
    @EnumSource
    void windowsHaveTheLastTenSecondsAndTheLastMinute(Shape shape) {
        SplittableRandom random = new SplittableRandom(SEED);
        Durations durations = new Durations();
        int perSecond = VALUES / 200;
        long[][] seconds = new long[200][perSecond];
        for (int second = 0; second < seconds.length; second++) {
            for (int i = 0; i < perSecond; i++) {
                // Every ten seconds all is three times as slow: a window that is too long or too short shows.
                seconds[second][i] = shape.draw(random) * (1 + second / 10);
                durations.record(seconds[second][i], START + second * SECOND + i);
            }
            if (second % 37 == 36) {
                long now = START + second * SECOND + perSecond;
                expect(durations, Window.TEN_SECONDS, now, since(seconds, second, 10));
                if (second >= 60) {
                    expect(durations, Window.MINUTE, now, since(seconds, second, 60));
                }
            }
        }
    }

    @Test
    void whatIsTooOldIsForgotten() {
        Durations durations = new Durations();
        durations.record(5_000_000, START);
        assertThat(durations.seconds(Window.TEN_SECONDS, 0.5, START + 9 * SECOND)).isCloseTo(5e-3, withinPercentage(1));
        assertThat(durations.seconds(Window.TEN_SECONDS, 0.5, START + 12 * SECOND)).isNaN();
        assertThat(durations.seconds(Window.MINUTE, 0.5, START + 59 * SECOND)).isCloseTo(5e-3, withinPercentage(1));
        assertThat(durations.seconds(Window.MINUTE, 0.5, START + 62 * SECOND)).isNaN();
        assertThat(durations.seconds(Window.START, 0.5, START + 9000 * SECOND)).isCloseTo(5e-3, withinPercentage(1));
    }

    @Test
    void twoSeriesMakeOne() {
        Durations one = new Durations();
        Durations other = new Durations();
        for (int second = 0; second < 30; second++) {
            one.record(1_000_000, START + second * SECOND);
            other.record(3_000_000, START + (second + 3) * SECOND);
        }
        one.add(other);
        long now = START + 32 * SECOND;
        assertThat(one.count()).isEqualTo(60);
        assertThat(one.sumSeconds()).isEqualTo(0.12);
        assertThat(one.count(Window.MINUTE, now)).isEqualTo(60);
        assertThat(one.seconds(Window.MINUTE, 0.25, now)).isCloseTo(1e-3, withinPercentage(1));
        assertThat(one.seconds(Window.MINUTE, 0.75, now)).isCloseTo(3e-3, withinPercentage(1));
        assertThat(one.count(Window.TEN_SECONDS, now)).isEqualTo(8 + 11);
    }

    /// As a replay does, which hands out each call when it begins.
    @Test
    void aLongCallNeitherEmptiesTheLastMinuteNorHoldsItUp() {
        LiveMetrics live = new LiveMetrics(1, new Inferences(true), _ -> {});
        for (int second = 0; second < 40; second++) {
            live.apply(futex(START + second * SECOND, second == 20 ? 600 * SECOND : 1_000_000));
        }
        assertThat(waits(live, Window.MINUTE, START + 40 * SECOND)).isEqualTo(40);
        for (int second = 40; second < 200; second++) {
            live.apply(futex(START + second * SECOND, 1_000_000));
        }
        assertThat(waits(live, Window.TEN_SECONDS, START + 200 * SECOND)).isEqualTo(10);
    }

    private static EventBatch futex(long startNanos, long durationNanos) {
        return new EventBatch(1)
                .addRow()
                .put(TextColumn.KIND, "wait")
                .put(TextColumn.NAME, "futex")
                .put(LongColumn.PID, 1)
                .put(LongColumn.TS_NS, startNanos)
                .put(LongColumn.DUR_NS, durationNanos);
    }

    private static long waits(LiveMetrics live, Window window, long nowNanos) {
        AtomicLong count = new AtomicLong();
        live.read(nowNanos, false, view -> count.set(
                view.series().durations(Metrics.WAIT, List.of("1", "futex")).count(window, nowNanos)));
        return count.get();
    }

    /// The values of the seconds whose slice of two is in the window that ends in `second`.
    private static long[] since(long[][] seconds, int second, int length) {
        int first = second - second % 2 - length;
        return Arrays.stream(seconds, Math.max(0, first), second + 1).flatMapToLong(Arrays::stream).toArray();
    }

    private static void expect(Durations durations, Window window, long now, long[] values) {
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        assertThat(durations.count(window, now)).isEqualTo(sorted.length);
        for (double quantile : QUANTILES) {
            double exact = sorted[(int) Math.ceil(quantile * sorted.length) - 1] / 1e9;
            assertThat(durations.seconds(window, quantile, now))
                    .as("%s p%s", window.label(), quantile * 100)
                    .isCloseTo(exact, withinPercentage(1));
        }
    }
}
