package io.dyber.zernel.record.detail;

import io.dyber.zernel.record.option.Detail;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// When detail is recorded.
///
/// With `--detail auto`, from the start until there are some steps; then in turns with and without, until it is clear what it
/// costs a step. Where that is within the budget it is recorded all the time, else in windows of some steps, so often
/// that the budget is kept, and at least every 10 s where steps are short enough for that. A process that shows no steps is
/// judged by what a probed call costs. Times are nanoseconds since the epoch; it belongs to the recording's thread.
final class Schedule {
    private static final long FIRST_STEPS = 3;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(5);
    private static final double LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(10);
    /// Where a window of the fewest steps costs more than twice what the budget has in 10 s.
    private static final double LONGEST_PAUSE_OF_DEAR_WINDOWS = TimeUnit.SECONDS.toNanos(60);
    private static final double SHORTEST_WINDOW = TimeUnit.MILLISECONDS.toNanos(100);
    private static final double SHORTEST_WINDOW_WITHOUT_STEPS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final double LONG_WINDOW = TimeUnit.SECONDS.toNanos(4);
    private static final long AGAIN = TimeUnit.SECONDS.toNanos(30);
    /// Whole steps of a window, and what of another two is lost at its ends.
    private static final double STEPS_OF_A_WINDOW = 4;
    private static final double STEPS_OF_A_LONG_WINDOW = 2.5;
    private static final int MOST_TURNS = 12;
    private static final int TURNS_WITHOUT_STEPS = 40;
    /// A share of the budget below which a prediction is trusted to be below it, though it may be wrong by some times.
    private static final double NEGLIGIBLE = 0.1;

    private static final int LENGTHS = 50;

    private enum Phase {
        START,
        TRIAL,
        ALWAYS,
        WINDOWS,
        BY_TIME
    }

    private final Detail asked;
    private final double budget;
    private long began;
    private final Experiment experiment = new Experiment();
    private final Deque<Long> lengths = new ArrayDeque<>();
    private Phase phase = Phase.START;
    private boolean open = true;
    private long steps;
    private long stepsAtTrial;
    private long firstLoad;
    private double load;
    private double loadOfVerdict;
    private long verdictAt;
    private int turns;
    /// What detail costs, as a share of the time in which it is recorded.
    private double cost;
    private double spentNanos;
    private long openedAt;
    private long until;
    private long next;
    private boolean triggered;
    private String why = "";
    private Optional<String> notice = Optional.empty();

    /// @param budget share of a step by which detail may make it longer
    Schedule(Detail asked, double budget, long now) {
        this.asked = asked;
        this.budget = budget;
        this.began = now;
        begins(now);
    }

    /// All probes are there now.
    void begins(long now) {
        began = now;
        openedAt = now;
        experiment.restart();
        experiment.begins(true, now);
    }

    /// Takes in a step.
    void add(Step step) {
        steps++;
        lengths.add(step.nanos());
        if (lengths.size() > LENGTHS) {
            lengths.remove();
        }
        experiment.add(step);
    }

    /// Takes in what detail takes while it is recorded.
    ///
    /// @param share of one CPU, by the cost of a call; infinite where that is not known
    void load(double share, long now) {
        load = share;
        if (firstLoad == 0 && share > 0) {
            firstLoad = now;
        }
    }

    /// Whether it is to be recorded now.
    boolean wantsOpen(long now) {
        if (!asked.inWindows()) {
            return true;
        }
        return switch (phase) {
            case START -> start(now);
            case TRIAL -> trial(now);
            case ALWAYS -> always(now);
            case WINDOWS, BY_TIME -> open ? now < until : now >= next;
        };
    }

    /// Something has happened that is worth a window.
    void trigger(long now) {
        if (phase == Phase.WINDOWS || phase == Phase.BY_TIME) {
            next = now;
            triggered = !open;
        }
    }

    /// It is recorded from now on.
    void opened(long now) {
        open = true;
        openedAt = now;
        until = now + window();
        experiment.begins(true, now);
    }

    /// It is not recorded from now on, and its probes are being taken away.
    void closed(long now) {
        open = false;
        triggered = false;
        spentNanos += (now - openedAt) * cost;
        experiment.ends(now);
        if (phase == Phase.TRIAL) {
            turns++;
        } else if (phase == Phase.WINDOWS && asked.mode() == Detail.Mode.AUTO) {
            learn();
        }
        next = nextAfter(now);
    }

    /// The job is as if it was not there from now on.
    void settled(long now) {
        experiment.begins(false, now);
        until = now + window();
    }

    /// It is about to be recorded.
    void opening(long now) {
        experiment.ends(now);
    }

    private boolean start(long now) {
        if (asked.mode() == Detail.Mode.TURNS) {
            if (steps >= FIRST_STEPS || (firstLoad != 0 && now - firstLoad > PATIENCE)) {
                phase = Phase.WINDOWS;
                why = "as asked";
                until = now;
            }
            return phase == Phase.START;
        }
        if (load < NEGLIGIBLE * budget) {
            return true;
        }
        if (steps >= FIRST_STEPS) {
            begin();
            return false;
        }
        if (now - firstLoad > PATIENCE) {
            judgeByTime(now);
        }
        return phase != Phase.BY_TIME || now < until;
    }

    private void begin() {
        phase = Phase.TRIAL;
        turns = 0;
        stepsAtTrial = steps;
        cost = Math.max(cost, Double.isInfinite(load) ? 0 : load);
    }

    private boolean trial(long now) {
        if (now < until) {
            return open;
        }
        if (open) {
            return false;
        }
        Experiment.Estimate estimate = experiment.estimate();
        boolean clear = estimate.isKnown() && (estimate.low() > budget || estimate.high() <= budget);
        if (clear || (estimate.isKnown() && turns >= MOST_TURNS)) {
            judge(estimate, now);
        } else if (turns >= TURNS_WITHOUT_STEPS) {
            judgeByTime(now);
        }
        return phase == Phase.TRIAL || phase == Phase.ALWAYS;
    }

    private void judge(Experiment.Estimate estimate, long now) {
        verdict(now);
        cost = Math.max(0, estimate.effect());
        boolean within = estimate.effect() <= budget;
        phase = within ? Phase.ALWAYS : Phase.WINDOWS;
        why = "detail makes a step " + text(estimate);
        spentNanos = Math.max(spentNanos, (now - began) * cost / 2);
        next = nextAfter(now);
        notice = Optional.of(why + (within ? ": recorded all the time" : ": recorded in windows, see --detail"));
    }

    /// Of a process that shows no steps.
    private void judgeByTime(long now) {
        verdict(now);
        if (load <= budget) {
            phase = Phase.ALWAYS;
            why = "there are no steps to measure by, and detail takes " + percent(load) + " of a CPU by the cost of a call";
            return;
        }
        phase = Phase.BY_TIME;
        cost = Double.isInfinite(load) ? 1 : load;
        why = "there are no steps to measure by, and detail takes "
                + (Double.isInfinite(load) ? "an unknown share" : percent(load)) + " of a CPU by the cost of a call";
        until = now;
        next = nextAfter(now);
        notice = Optional.of(why + ": recorded in windows, see --detail");
    }

    private void verdict(long now) {
        loadOfVerdict = load;
        verdictAt = now;
    }

    /// What was measured is no longer what there is when there are many more calls, or steps at last.
    private boolean always(long now) {
        boolean more = load > NEGLIGIBLE * budget && load > 2 * loadOfVerdict;
        if (now - verdictAt > AGAIN && more && steps > stepsAtTrial) {
            experiment.restart();
            begin();
            return false;
        }
        return true;
    }

    /// Each window is another turn.
    private void learn() {
        Experiment.Estimate estimate = experiment.estimate();
        if (estimate.isKnown()) {
            cost = Math.max(0, estimate.effect());
            why = "detail makes a step " + text(estimate);
        }
    }

    /// How long a window is to be.
    private long window() {
        if (asked.mode() == Detail.Mode.TURNS) {
            return lengths.isEmpty()
                    ? (long) (LONGEST_PAUSE * asked.steps() / asked.every())
                    : (asked.steps() + 1) * stepNanos();
        }
        if (phase == Phase.BY_TIME) {
            return (long) Math.clamp(LONGEST_PAUSE * budget / cost, SHORTEST_WINDOW_WITHOUT_STEPS, LONG_WINDOW);
        }
        double few = STEPS_OF_A_WINDOW * stepNanos();
        double atMost = Math.max(LONG_WINDOW, STEPS_OF_A_LONG_WINDOW * stepNanos());
        return (long) Math.max(SHORTEST_WINDOW, Math.min(few, atMost));
    }

    private long stepNanos() {
        List<Long> sorted = lengths.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
    }

    /// When what was spent is within the budget again.
    private long nextAfter(long now) {
        if (asked.mode() == Detail.Mode.TURNS) {
            return now + (long) ((double) window() * (asked.every() - asked.steps()) / asked.steps());
        }
        if (cost <= 0) {
            return now;
        }
        double steady = now + window() * Math.max(1, cost / budget - 1);
        double paid = began + spentNanos / budget;
        boolean dear = window() * cost > 2 * budget * LONGEST_PAUSE;
        double latest = dear ? Math.clamp(steady - now, LONGEST_PAUSE, LONGEST_PAUSE_OF_DEAR_WINDOWS) : LONGEST_PAUSE;
        return (long) Math.min(Math.max(steady, paid), now + latest);
    }

    /// How it is recorded: all or windows.
    String recorded() {
        return asked.inWindows() ? phase == Phase.WINDOWS || phase == Phase.BY_TIME ? "windows" : "all" : asked.toString();
    }

    /// Why, for people.
    String why() {
        if (!asked.inWindows()) {
            return "as asked";
        }
        return switch (phase) {
            case START -> firstLoad == 0
                    ? "no call that is detail was made"
                    : load < NEGLIGIBLE * budget
                            ? "detail takes " + percent(load) + " of a CPU by the cost of a call"
                            : "there was no time to try what it costs: " + steps + (steps == 1 ? " step" : " steps");
            case TRIAL -> "there was no time to find out what it costs: " + turns + " turns";
            case ALWAYS, WINDOWS, BY_TIME -> why;
        };
    }

    /// What people should know, once.
    Optional<String> takeNotice() {
        Optional<String> text = notice;
        notice = Optional.empty();
        return text;
    }

    /// Why a window that opens now does.
    String reason() {
        return triggered ? "trigger" : switch (phase) {
            case START -> "start";
            case TRIAL -> "trial";
            case ALWAYS, WINDOWS, BY_TIME -> "turn";
        };
    }

    private static String text(Experiment.Estimate estimate) {
        return String.format(
                Locale.ROOT,
                "%.1f %% longer (95 %%: %.1f to %.1f %%, %d turns)",
                100 * estimate.effect(),
                100 * estimate.low(),
                100 * estimate.high(),
                estimate.turns());
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.2f %%", 100 * share);
    }
}
