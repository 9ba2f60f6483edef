package io.dyber.zernel.record.detail;

import io.dyber.zernel.record.option.Detail;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// How long windows of detail are and how often they come, so that in the mean they cost the job no more than the budget.
/// Times are nanoseconds since the epoch.
final class Pace {
    private static final double LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(10);
    /// Where a window costs more than twice what the budget has in 10 s, or holds many steps.
    private static final double LONGEST_PAUSE_OF_DEAR_WINDOWS = TimeUnit.MINUTES.toNanos(10);
    private static final double SHORTEST_WINDOW = TimeUnit.MILLISECONDS.toNanos(100);
    private static final double LONG_WINDOW = TimeUnit.SECONDS.toNanos(4);
    /// Whole steps of a window, and one that is lost at its ends.
    private static final double FEWEST_STEPS = 4;
    private static final double STEPS_OF_A_LONG_WINDOW = 2.5;
    private static final int LENGTHS = 50;

    private final Detail asked;
    private final double budget;
    private final Deque<Long> lengths = new ArrayDeque<>();
    private double steps;
    private double stepsNanos;
    private long began;
    private long openNanos;
    /// What detail costs, as a share of the time in which it is recorded.
    private double cost;

    Pace(Detail asked, double budget) {
        this.asked = asked;
        this.budget = budget;
    }

    /// From now on time counts, and what detail cost before does not.
    void begins(long now) {
        began = now;
        openNanos = 0;
    }

    /// Takes in a step.
    void add(Step step) {
        lengths.add(step.nanos());
        if (lengths.size() > LENGTHS) {
            lengths.remove();
        }
    }

    /// A window is to hold so many steps from now on, as far as they take no longer than this.
    void hold(int wanted, long atMostNanos) {
        steps = wanted;
        stepsNanos = atMostNanos;
    }

    /// A window is to hold no more than the fewest steps from now on.
    void holdFew() {
        hold(0, 0);
    }

    /// Detail is expected to cost so much, or more if that was said before.
    void expect(double share) {
        cost = Math.max(cost, share);
    }

    /// It was found to cost so much.
    void learned(double share) {
        cost = Math.max(0, share);
    }

    /// Detail was recorded for so long.
    void spend(long nanos) {
        openNanos += nanos;
    }

    /// How long a window is to be.
    ///
    /// @param byTime of a process that shows no steps
    long window(boolean byTime) {
        if (asked.mode() == Detail.Mode.TURNS) {
            return lengths.isEmpty()
                    ? (long) (LONGEST_PAUSE * asked.steps() / asked.every())
                    : (asked.steps() + 1) * stepNanos();
        }
        if (byTime) {
            return (long) Math.clamp(LONGEST_PAUSE * budget / cost, SHORTEST_WINDOW, LONG_WINDOW);
        }
        double few = FEWEST_STEPS * stepNanos();
        double wanted = Math.max(few, Math.min(steps * stepNanos(), stepsNanos));
        double atMost = Math.max(LONG_WINDOW, STEPS_OF_A_LONG_WINDOW * stepNanos());
        return (long) Math.max(SHORTEST_WINDOW, Math.min(wanted, atMost));
    }

    private long stepNanos() {
        List<Long> sorted = lengths.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
    }

    /// How long there has to be no detail after a window to pay for that one, in nanoseconds.
    double pause(boolean byTime) {
        double window = window(byTime);
        if (asked.mode() == Detail.Mode.TURNS) {
            return window * (asked.every() - asked.steps()) / asked.steps();
        }
        return window * Math.max(1, cost / budget - 1);
    }

    /// When the next window may open: when what was spent is within the budget again.
    long next(long now, boolean byTime) {
        double steady = pause(byTime);
        if (asked.mode() == Detail.Mode.TURNS || cost <= 0) {
            return now + (long) steady;
        }
        double paid = began + openNanos * cost / budget - now;
        boolean dear = steps > 0 || window(byTime) * cost > 2 * budget * LONGEST_PAUSE;
        double latest = dear ? Math.clamp(steady, LONGEST_PAUSE, LONGEST_PAUSE_OF_DEAR_WINDOWS) : LONGEST_PAUSE;
        return now + (long) Math.min(Math.max(steady, paid), latest);
    }
}
