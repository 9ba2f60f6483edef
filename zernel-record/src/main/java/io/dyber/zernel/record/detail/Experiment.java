package io.dyber.zernel.record.detail;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/// Steps with detail and steps without it, in turns: how much longer the first are.
///
/// A turn is a time with detail and those without around it. In each, and for each thread, the median step with detail is
/// held against that of the nearest steps before and after. So neither a drift of the job nor single long steps count, and
/// the turns say how far the mean of them can be trusted, also where a turn has room for one long step only. Steps in which detail was switched are in neither.
final class Experiment {
    /// Of turns that are remembered.
    private static final int MOST_PERIODS = 64;
    /// Steps that are remembered of each end of a time without detail.
    private static final int MOST_STEPS = 40;
    private static final int FEWEST_TURNS = 3;
    /// Two-sided 95 % of Student's t, by degrees of freedom from 1.
    private static final double[] T = {
        12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09
    };
    private static final double T_OF_MANY = 2.0;

    private final Deque<Period> periods = new ArrayDeque<>();

    /// How much longer detail makes a step, as a share of it, and from where to where that is with 95 %.
    ///
    /// @param turns that this is the mean of
    record Estimate(double effect, double low, double high, int turns) {
        static Estimate unknown(int turns) {
            return new Estimate(0, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, turns);
        }

        boolean isKnown() {
            return turns >= FEWEST_TURNS;
        }
    }

    /// A time wholly with or wholly without detail.
    private static final class Period {
        final boolean detailed;
        final long start;
        long end = Long.MAX_VALUE;
        final Map<Integer, Lengths> threads = new HashMap<>();

        Period(boolean detailed, long start) {
            this.detailed = detailed;
            this.start = start;
        }

        boolean holds(Step step) {
            return step.startNanos() >= start && step.endNanos() <= end;
        }
    }

    /// The logarithms of the lengths of the first and last steps of a thread in a period.
    private static final class Lengths {
        final List<Double> first = new ArrayList<>();
        final Deque<Double> last = new ArrayDeque<>();

        void add(double length) {
            if (first.size() < MOST_STEPS) {
                first.add(length);
            }
            last.add(length);
            if (last.size() > MOST_STEPS) {
                last.remove();
            }
        }

        List<Double> last(int count) {
            return last.stream().skip(Math.max(0, last.size() - count)).toList();
        }

        List<Double> first(int count) {
            return first.subList(0, Math.min(count, first.size()));
        }
    }

    /// From this moment on, until [#ends], detail is recorded, or nothing of it is done to the job.
    void begins(boolean detailed, long nanos) {
        periods.add(new Period(detailed, nanos));
        if (periods.size() > MOST_PERIODS) {
            periods.remove();
        }
    }

    /// It is being switched.
    void ends(long nanos) {
        if (!periods.isEmpty()) {
            periods.getLast().end = nanos;
        }
    }

    /// Forgets everything before.
    void restart() {
        periods.clear();
    }

    /// Takes in a step, at most some seconds late.
    void add(Step step) {
        for (Period period : periods.reversed()) {
            if (period.holds(step)) {
                period.threads
                        .computeIfAbsent(step.tid(), _ -> new Lengths())
                        .add(Math.log(Math.max(1.0, (double) step.nanos())));
                return;
            }
        }
    }

    /// What follows from the turns so far.
    Estimate estimate() {
        List<Period> all = List.copyOf(periods);
        List<Double> effects = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).detailed && all.get(i).end < Long.MAX_VALUE) {
                effect(all, i).ifPresent(effects::add);
            }
        }
        return effects.size() < FEWEST_TURNS
                ? Estimate.unknown(effects.size())
                : estimate(effects);
    }

    private static Estimate estimate(List<Double> effects) {
        int turns = effects.size();
        double mean = effects.stream().mapToDouble(d -> d).average().orElse(0);
        double squares = effects.stream().mapToDouble(d -> (d - mean) * (d - mean)).sum();
        double error = Math.sqrt(squares / (turns - 1) / turns);
        double t = turns - 2 < T.length ? T[turns - 2] : T_OF_MANY;
        return new Estimate(Math.expm1(mean), Math.expm1(mean - t * error), Math.expm1(mean + t * error), turns);
    }

    /// Of one turn, the mean over threads.
    private static OptionalDouble effect(List<Period> all, int at) {
        List<Double> effects = new ArrayList<>();
        all.get(at).threads.forEach((thread, detailed) -> {
            int near = Math.max(5, 2 * detailed.first.size());
            List<Double> others = new ArrayList<>();
            if (at > 0) {
                median(lengths(all.get(at - 1), thread).last(near)).ifPresent(others::add);
            }
            if (at + 1 < all.size()) {
                median(lengths(all.get(at + 1), thread).first(near)).ifPresent(others::add);
            }
            OptionalDouble with = median(detailed.first);
            if (with.isPresent() && !others.isEmpty()) {
                effects.add(with.getAsDouble()
                        - others.stream().mapToDouble(d -> d).average().orElseThrow());
            }
        });
        return effects.stream().mapToDouble(d -> d).average();
    }

    private static Lengths lengths(Period period, int thread) {
        return period.detailed ? new Lengths() : period.threads.getOrDefault(thread, new Lengths());
    }

    private static OptionalDouble median(List<Double> values) {
        if (values.isEmpty()) {
            return OptionalDouble.empty();
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return OptionalDouble.of(
                sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2);
    }
}
