package io.dyber.zernel.record.detail;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Times with detail and times without it, in turns: how much longer a step takes in the first.
///
/// A turn is a time with detail and those without around it. At each of its edges, and for each thread, the time of the
/// steps with detail is held against what as many would take without, as it was just before or after. The effect is the
/// ratio of these times over all turns, and what it would be without each of them says how far it can be trusted (the
/// jackknife, of its logarithm).
///
/// All the time counts, and a step that lies in there in part counts in part: a program that is ahead of its GPU, or of
/// its loader's workers, has short steps while it gets ahead and then one in which it waits for all of them. Detail makes
/// the short ones longer and the long one as much shorter; and the long one is the one that an edge falls into. The
/// nearest time, so that a drift of the job does not count. Of a step longer than that which one in forty exceeds only so
/// much counts, so that what seldom happens counts little; waits that are as rare count little too, but a queue of 1,024
/// launches holds fewer steps than that. The time in which detail is switched is in neither.
///
/// Where a time holds few steps, the effect is told too low by a part of it, as a step across its end counts on both
/// sides; and of the last time without detail a wait that has not ended yet is missing.
final class Experiment {
    /// Times with and without that are remembered.
    private static final int MOST_PERIODS = 64;
    /// Steps of a thread that are remembered at either end of a time.
    private static final int MOST_STEPS = 200;
    /// Of a long time with detail, as much is compared at either end.
    private static final long LONGEST_SPAN = TimeUnit.SECONDS.toNanos(4);
    /// After a change so many steps do not count, or this part of a short time: until a program has as much of a lead as it
    /// has with or without detail. As many without detail are compared at least.
    private static final int FEW_STEPS = 10;
    private static final int PART_THAT_SETTLES = 3;
    private static final double LONGEST_QUANTILE = 0.975;
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

    /// Of one turn or of all: what steps took with detail, and what as many would have taken without, in nanoseconds.
    private record Sums(double with, double without) {
        static final Sums NONE = new Sums(0, 0);

        Sums plus(Sums other) {
            return new Sums(with + other.with, without + other.without);
        }

        Sums minus(Sums other) {
            return new Sums(with - other.with, without - other.without);
        }

        double ratio() {
            return with / without;
        }
    }

    /// A time wholly with or wholly without detail.
    private static final class Period {
        final boolean detailed;
        final long start;
        long end = Long.MAX_VALUE;
        final Map<Integer, Steps> threads = new HashMap<>();

        Period(boolean detailed, long start) {
            this.detailed = detailed;
            this.start = start;
        }

        Steps steps(int thread) {
            return threads.getOrDefault(thread, Steps.NONE);
        }

        boolean overlaps(Step step) {
            return step.endNanos() > start && step.startNanos() < end;
        }
    }

    /// The first and last steps of a thread that lie in a period, or a part of which does.
    private static final class Steps {
        static final Steps NONE = new Steps();
        final List<Step> first = new ArrayList<>();
        final Deque<Step> last = new ArrayDeque<>();

        void add(Step step) {
            if (first.size() < MOST_STEPS) {
                first.add(step);
            }
            last.add(step);
            if (last.size() > MOST_STEPS) {
                last.remove();
            }
        }
    }

    /// Steps of a thread as far as they lie between two moments.
    private record Span(Collection<Step> steps, long from, long to) {
        Span since(long moment) {
            return new Span(steps, Math.max(from, moment), to);
        }

        Span upTo(long moment) {
            return new Span(steps, from, Math.min(to, moment));
        }

        long median() {
            List<Long> lengths = steps.stream().map(Step::nanos).sorted().toList();
            return lengths.isEmpty() ? 0 : lengths.get(lengths.size() / 2);
        }

        /// As much time as what it is compared with is to have.
        long near() {
            return Math.max(to - from, FEW_STEPS * median());
        }

        private double overlap(Step step) {
            return Math.max(0, Math.min(step.endNanos(), to) - Math.max(step.startNanos(), from));
        }

        /// How many steps lie in it, with parts of them.
        double count() {
            return steps.stream().mapToDouble(step -> overlap(step) / step.nanos()).sum();
        }

        /// How long they take in it, in nanoseconds, of a step no more than if it was so long.
        double taken(double longest) {
            return steps.stream()
                    .mapToDouble(step -> overlap(step) * Math.min(1, longest / step.nanos()))
                    .sum();
        }
    }

    /// The steps of a thread with detail at one end of a turn, and those without beyond it.
    private record Edge(int turn, Span with, Span without) {
        boolean tells() {
            return with.count() > 0 && without.count() > 0;
        }

        Sums sums(double longest) {
            return new Sums(with.taken(longest), without.taken(longest) / without.count() * with.count());
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
            if (period.overlaps(step)) {
                period.threads.computeIfAbsent(step.tid(), _ -> new Steps()).add(step);
            }
        }
    }

    /// What follows from the turns so far.
    Estimate estimate() {
        List<Period> all = List.copyOf(periods);
        Map<Integer, Sums> turns = new HashMap<>();
        all.stream().flatMap(period -> period.threads.keySet().stream()).distinct().forEach(thread -> {
            List<Edge> edges = edges(all, thread);
            double longest = longest(edges);
            edges.forEach(edge -> turns.merge(edge.turn, edge.sums(longest), Sums::plus));
        });
        return turns.size() < FEWEST_TURNS
                ? Estimate.unknown(turns.size())
                : estimate(List.copyOf(turns.values()));
    }

    private static Estimate estimate(List<Sums> turns) {
        int count = turns.size();
        Sums all = turns.stream().reduce(Sums.NONE, Sums::plus);
        double[] others = turns.stream().mapToDouble(turn -> Math.log(all.minus(turn).ratio())).toArray();
        double mean = Arrays.stream(others).average().orElseThrow();
        double squares = Arrays.stream(others).map(d -> (d - mean) * (d - mean)).sum();
        double error = Math.sqrt(squares * (count - 1) / count);
        double interval = error * (count - 2 < T.length ? T[count - 2] : T_OF_MANY);
        double ratio = all.ratio();
        return new Estimate(ratio - 1, ratio * Math.exp(-interval) - 1, ratio * Math.exp(interval) - 1, count);
    }

    private static List<Edge> edges(List<Period> all, int thread) {
        List<Edge> edges = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            Period period = all.get(i);
            if (period.detailed && period.end < Long.MAX_VALUE) {
                if (i > 0 && !all.get(i - 1).detailed) {
                    edges.add(begin(i, thread, all.get(i - 1), period));
                }
                if (i + 1 < all.size() && !all.get(i + 1).detailed) {
                    edges.add(end(i, thread, period, all.get(i + 1)));
                }
            }
        }
        edges.removeIf(edge -> !edge.tells());
        return edges;
    }

    private static Edge begin(int turn, int thread, Period before, Period period) {
        Span with = settled(period, period.steps(thread).first);
        with = with.upTo(with.from + LONGEST_SPAN);
        Span without = settled(before, before.steps(thread).last);
        return new Edge(turn, with, without.since(without.to - with.near()));
    }

    private static Edge end(int turn, int thread, Period period, Period after) {
        Span with = settled(period, period.steps(thread).last);
        with = with.since(with.to - LONGEST_SPAN);
        Span without = settled(after, after.steps(thread).first);
        return new Edge(turn, with, without.upTo(without.from + with.near()));
    }

    /// The part of a period in which the job goes on as it does in all of that, as far as its steps are remembered.
    private static Span settled(Period period, Collection<Step> steps) {
        if (steps.isEmpty()) {
            return new Span(steps, period.start, period.start);
        }
        long begin = steps.iterator().next().startNanos();
        long end = steps.stream().mapToLong(Step::endNanos).max().orElseThrow();
        Span all = new Span(steps, Math.max(period.start, begin), Math.min(period.end, end));
        long settles = Math.min(FEW_STEPS * all.median(), (all.to - period.start) / PART_THAT_SETTLES);
        return all.since(period.start + settles);
    }

    /// As how much a step counts at most, in nanoseconds.
    private static double longest(List<Edge> edges) {
        List<Long> lengths = edges.stream()
                .flatMap(edge -> Stream.concat(edge.with.steps.stream(), edge.without.steps.stream()))
                .map(Step::nanos)
                .sorted()
                .toList();
        return lengths.isEmpty() ? 0 : lengths.get((int) (LONGEST_QUANTILE * (lengths.size() - 1)));
    }
}
