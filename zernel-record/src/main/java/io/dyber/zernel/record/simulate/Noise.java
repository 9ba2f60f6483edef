package io.dyber.zernel.record.simulate;

import java.util.SplittableRandom;

/// The chance in a simulation; the same seed gives the same recording.
final class Noise {
    private final SplittableRandom random;

    Noise(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /// Independent chance, so that one actor's use does not change another's.
    Noise split() {
        return new Noise(random.nextLong());
    }

    int between(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    double between(double low, double high) {
        return random.nextDouble(low, high);
    }

    /// A duration spread around `mean` as latencies are: a long tail above, none below zero.
    long around(double mean, double spread) {
        return Math.round(mean * Math.exp(spread * random.nextGaussian() - spread * spread / 2));
    }
}
