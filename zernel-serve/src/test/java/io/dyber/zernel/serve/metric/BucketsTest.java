package io.dyber.zernel.serve.metric;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BucketsTest {
    @ParameterizedTest
    @CsvSource({
        "0, 1e-05",
        "10000, 1e-05",
        "10001, 2e-05",
        "999999, 0.001",
        "1000000, 0.001",
        "1000001, 0.002",
        "100000000000, 100.0",
        "100000000001, +Inf",
        "9223372036854775807, +Inf",
    })
    void aDurationCountsInTheFirstBucketThatHoldsIt(long nanos, String bound) {
        assertThat(Buckets.LABELS.get(Buckets.of(nanos))).isEqualTo(bound);
    }

    @Test
    void boundsGrowByAtMostTwoAndAHalf() {
        for (int i = 1; i < Buckets.LABELS.size() - 1; i++) {
            double growth = Double.parseDouble(Buckets.LABELS.get(i)) / Double.parseDouble(Buckets.LABELS.get(i - 1));
            assertThat(growth).as(Buckets.LABELS.get(i)).isBetween(1.99, 2.51);
        }
    }
}
