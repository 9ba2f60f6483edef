package io.dyber.zernel.record.simulate.machine;

import java.util.SplittableRandom;

/// The chance of one actor in a simulation; the same seed gives the same recording.
public final class Noise {
    private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

    private final long seed;
    private SplittableRandom random;

    public Noise(long seed) {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
    }

    /// The chance of a part of this actor: independent of how much chance was used before, and of other parts.
    public Noise of(long part) {
        return new Noise(new SplittableRandom(seed + (part + 1) * GOLDEN).nextLong());
    }

    /// Starts again for a step, so that what a step draws does not depend on the steps before it: taking out a cause
    /// leaves all other chance as it was.
    public void restart(long step) {
        random = new SplittableRandom(new SplittableRandom(seed ^ (step + 1) * GOLDEN).nextLong());
    }

    public int between(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    public double between(double low, double high) {
        return random.nextDouble(low, high);
    }

    /// Between the two, and as often below their geometric mean as above.
    public double betweenLog(double low, double high) {
        return low * Math.exp(random.nextDouble() * Math.log(high / low));
    }

    public boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    /// A duration spread around `mean` as latencies are: a long tail above, none below zero.
    public long around(double mean, double spread) {
        return Math.round(mean * Math.exp(spread * random.nextGaussian() - spread * spread / 2));
    }

    /// Evenly spread around `mean`, at most `part` of it away. Cheap, for what happens often.
    public long near(double mean, double part) {
        double even = (random.nextInt() >>> 8) * 0x1p-24;
        return Math.round(mean * (1 + part * (2 * even - 1)));
    }
}
