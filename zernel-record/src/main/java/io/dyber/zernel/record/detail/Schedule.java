package io.dyber.zernel.record.detail;

import io.dyber.zernel.record.option.Detail;
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
    private static final long AGAIN = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_TURNS = 12;
    /// Of each side of a turn in the trial, and how long that is at most. Both double after some turns, and again: where
    /// steps differ much, or wait for what was done ahead, long sides tell more than many.
    private static final int STEPS_OF_A_TURN = 15;
    private static final long LONGEST_TURN = TimeUnit.SECONDS.toNanos(1);
    private static final int TURNS_OF_A_LENGTH = 3;
    private static final int MOST_DOUBLINGS = 2;
    /// A share of the budget below which a prediction is trusted to be below it, though it may be wrong by some times.
    private static final double NEGLIGIBLE = 0.1;

    private enum Phase {
        START,
        TRIAL,
        ALWAYS,
        WINDOWS,
        BY_TIME
    }

    private final Detail asked;
    private final double budget;
    private final Experiment experiment = new Experiment();
    private final Pace pace;
    private Phase phase = Phase.START;
    private boolean open = true;
    private long steps;
    private long stepsOfVerdict;
    private boolean measured;
    private long firstLoad;
    private double load;
    private double loadOfVerdict;
    private long verdictAt;
    private int turns;
    private long openedAt;
    private long closedAt;
    private long until;
    private long next;
    private long nextTriggered;
    private boolean triggered;
    private String why = "";
    private Optional<String> notice = Optional.empty();

    /// @param budget share of a step by which detail may make it longer
    Schedule(Detail asked, double budget, long now) {
        this.asked = asked;
        this.budget = budget;
        this.pace = new Pace(asked, budget);
        begins(now);
    }

    /// All probes are there now.
    void begins(long now) {
        pace.begins(now);
        openedAt = now;
        experiment.restart();
        experiment.begins(true, now);
    }

    /// Takes in a step.
    void add(Step step) {
        steps++;
        pace.add(step);
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
            case WINDOWS -> inTurns(now);
            case BY_TIME -> stepsAtLast() ? beginTrial(now) : inTurns(now);
        };
    }

    /// Something has happened that is worth a window, unless the last window of this kind is not paid for yet.
    void trigger(long now) {
        if ((phase == Phase.WINDOWS || phase == Phase.BY_TIME) && !open && now >= nextTriggered) {
            next = now;
            triggered = true;
        }
    }

    /// It is recorded from now on.
    void opened(long now) {
        open = true;
        openedAt = now;
        until = now + pace.window(phase == Phase.BY_TIME);
        experiment.begins(true, now);
    }

    /// It is not recorded from now on, and its probes are being taken away.
    void closed(long now) {
        open = false;
        closedAt = now;
        pace.spend(now - openedAt);
        experiment.ends(now);
        if (phase == Phase.TRIAL) {
            turns++;
            pace.hold(STEPS_OF_A_TURN << doublings(), LONGEST_TURN << doublings());
        } else if (phase == Phase.WINDOWS && asked.mode() == Detail.Mode.AUTO) {
            learn(now);
        }
        until = Long.MAX_VALUE; // until it is settled
        next = pace.next(now, phase == Phase.BY_TIME);
        if (triggered) {
            nextTriggered = now + (long) pace.pause(phase == Phase.BY_TIME);
            triggered = false;
        }
    }

    /// The job is as if it was not there from now on.
    void settled(long now) {
        experiment.begins(false, now);
        until = now + pace.window(phase == Phase.BY_TIME);
    }

    /// It is about to be recorded.
    void opening(long now) {
        experiment.ends(now);
    }

    private boolean inTurns(long now) {
        return open ? now < until : now >= next;
    }

    /// Whether it was judged by the cost of a call, and there are steps now to judge by.
    private boolean stepsAtLast() {
        return !measured && steps - stepsOfVerdict >= FIRST_STEPS && load >= NEGLIGIBLE * budget;
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
            return beginTrial(now);
        }
        if (now - firstLoad > PATIENCE) {
            judgeByTime(now);
        }
        return phase != Phase.BY_TIME || now < until;
    }

    /// What was recorded until now is no turn: it has start-up in it, or is over.
    ///
    /// @return false: detail ends first
    private boolean beginTrial(long now) {
        phase = Phase.TRIAL;
        turns = open ? -1 : 0;
        experiment.restart();
        pace.begins(now);
        pace.hold(STEPS_OF_A_TURN, LONGEST_TURN);
        pace.expect(Double.isInfinite(load) ? 0 : load);
        openedAt = now;
        return false;
    }

    private int doublings() {
        return Math.clamp(turns / TURNS_OF_A_LENGTH, 0, MOST_DOUBLINGS);
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
        } else if (turns >= MOST_TURNS) {
            judgeByTime(now);
        }
        return phase == Phase.TRIAL || phase == Phase.ALWAYS;
    }

    private void judge(Experiment.Estimate estimate, long now) {
        verdict(now, true);
        boolean within = estimate.effect() <= budget;
        phase = within ? Phase.ALWAYS : Phase.WINDOWS;
        take(estimate);
        next = pace.next(closedAt, phase == Phase.BY_TIME);
        notice = Optional.of(why + (within ? ": recorded all the time" : ": recorded in windows, see --detail"));
    }

    /// Of a process that shows no steps.
    private void judgeByTime(long now) {
        verdict(now, false);
        if (load <= budget) {
            phase = Phase.ALWAYS;
            why = "there are no steps to measure by, and detail takes " + percent(load) + " of a CPU by the cost of a call";
            return;
        }
        phase = Phase.BY_TIME;
        pace.expect(Double.isInfinite(load) ? 1 : load);
        why = "there are no steps to measure by, and detail takes "
                + (Double.isInfinite(load) ? "an unknown share" : percent(load)) + " of a CPU by the cost of a call";
        until = now;
        next = pace.next(now, phase == Phase.BY_TIME);
        notice = Optional.of(why + ": recorded in windows, see --detail");
    }

    private void verdict(long now, boolean bySteps) {
        measured = bySteps;
        stepsOfVerdict = steps;
        loadOfVerdict = load;
        verdictAt = now;
    }

    /// What was measured is no longer what there is when there are many more calls, or steps at last.
    private boolean always(long now) {
        boolean more = load > NEGLIGIBLE * budget && load > 2 * loadOfVerdict && steps > stepsOfVerdict;
        boolean anew = stepsAtLast() || (more && now - verdictAt > AGAIN);
        return !anew || beginTrial(now);
    }

    /// Each window is another turn.
    private void learn(long now) {
        Experiment.Estimate estimate = experiment.estimate();
        if (estimate.isKnown() && estimate.high() <= budget) {
            judge(estimate, now);
        } else if (estimate.isKnown()) {
            take(estimate);
        }
    }

    /// As long as it is not clear that detail costs too much, windows are long, to find out.
    private void take(Experiment.Estimate estimate) {
        why = "detail makes a step " + text(estimate);
        pace.learned(estimate.effect());
        if (estimate.low() > budget) {
            pace.holdFew();
        } else {
            pace.hold(STEPS_OF_A_TURN << MOST_DOUBLINGS, LONGEST_TURN << MOST_DOUBLINGS);
        }
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
            case TRIAL -> "there was no time to find out what it costs: " + Math.max(0, turns) + " turns";
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
