package io.dyber.zernel.record.detail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.record.option.Detail;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The schedule against a job of which it is known what detail costs it.
final class ScheduleTest {
    private static final long MILLISECOND = 1_000_000;
    private static final long SECOND = 1000 * MILLISECOND;
    private static final long TICK = 20 * MILLISECOND;
    private static final long LATE = 300 * MILLISECOND;
    private static final double BUDGET = 0.01;

    /// A job whose steps take `stepNanos` without detail, and `1 + cost` times as long with it.
    private static final class Job {
        final Schedule schedule;
        long stepNanos;
        double cost;
        double share;
        final double noise;
        final Random random = new Random(17);
        final Deque<Step> onTheWay = new ArrayDeque<>();
        boolean open = true;
        boolean closing;
        long now = SECOND;
        double done;
        long stepBegan = now;
        long openNanos;
        long lostNanos;
        double length = 1;
        int windows;
        long lastOpened;
        long longestPause;
        /// How long the GPU works at a step, 0 if there is none, and until when at those that were launched.
        long gpuNanos;
        long gpuEnd;
        long count;

        Job(Detail asked, long stepNanos, double cost, double share, double noise) {
            this.schedule = new Schedule(asked, BUDGET, now);
            this.stepNanos = stepNanos;
            this.cost = cost;
            this.share = share;
            this.noise = noise;
        }

        void run(long nanos) {
            for (long end = now + nanos; now < end; now += TICK) {
                work();
                while (!onTheWay.isEmpty() && onTheWay.peek().endNanos() < now - LATE) {
                    schedule.add(onTheWay.remove());
                }
                if (open) {
                    schedule.load(share, now);
                }
                control();
            }
        }

        private void work() {
            double slower = open ? 1 + cost : 1;
            openNanos += open ? TICK : 0;
            lostNanos += (long) (TICK - TICK / slower);
            if (gpuNanos != 0) {
                launchSteps(slower);
                return;
            }
            if (stepNanos == 0) {
                return;
            }
            done += TICK / slower / stepNanos / length;
            if (done >= 1) {
                onTheWay.add(new Step(7, stepBegan, now));
                stepBegan = now;
                done -= 1;
                length = Math.max(0.1, 1 + noise * random.nextGaussian());
            }
        }

        /// The CPU is at most a step and a half ahead of the GPU, and waits for it in each tenth step.
        private void launchSteps(double slower) {
            for (long end = stepBegan; ; stepBegan = end) {
                end = stepBegan + (long) (stepNanos * slower * (1 + noise * random.nextGaussian()));
                long gpu = Math.max(gpuEnd, stepBegan) + gpuNanos;
                end = Math.max(end, count % 10 == 9 ? gpu : gpu - gpuNanos * 3 / 2);
                if (end > now) {
                    return;
                }
                gpuEnd = gpu;
                count++;
                onTheWay.add(new Step(7, stepBegan, end));
            }
        }

        private void control() {
            boolean wanted = schedule.wantsOpen(now);
            if (closing) {
                closing = false;
                schedule.settled(now);
            } else if (open && !wanted) {
                open = false;
                closing = true;
                schedule.closed(now);
                lastOpened = now;
            } else if (!open && wanted) {
                schedule.opening(now);
                longestPause = Math.max(longestPause, now - lastOpened);
                schedule.opened(now);
                open = true;
                windows++;
            }
        }
    }

    private static Job auto(long stepNanos, double cost, double share, double noise) {
        return new Job(Detail.AUTO, stepNanos, cost, share, noise);
    }

    @Test
    void aJobWithoutSuchCallsIsNeverSwitched() {
        Job job = auto(100 * MILLISECOND, 0, 0, 0.02);
        job.run(60 * SECOND);
        assertThat(job.windows).isZero();
        assertThat(job.open).isTrue();
        assertThat(job.schedule.recorded()).isEqualTo("all");
        assertThat(job.schedule.why()).isEqualTo("no call that is detail was made");
    }

    @Test
    void whatCostsTheJobNothingIsRecordedAllTheTimeAfterAFewTurns() {
        Job job = auto(100 * MILLISECOND, 0, 0.05, 0.005);
        job.run(120 * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("all");
        assertThat(job.windows).isBetween(3, 13);
        assertThat(job.open).isTrue();
        assertThat(job.openNanos).isGreaterThan(100 * SECOND);
    }

    /// Of a program ahead of its GPU most steps take as long as the CPU, and some wait for all of them.
    @ParameterizedTest
    @CsvSource({"18, 24, 0.2", "15, 25, 0.5", "30, 60, 0.3"})
    void whereTheGpuIsTheLimitDetailIsRecordedAllTheTime(long cpuMillis, long gpuMillis, double cost) {
        Job job = auto(cpuMillis * MILLISECOND, cost, cost, 0.02);
        job.gpuNanos = gpuMillis * MILLISECOND;
        job.run(60 * SECOND);
        assertThat(job.schedule.why()).startsWith("detail makes a step ");
        assertThat(job.schedule.recorded()).isEqualTo("all");
    }

    @Test
    void whereTheGpuIsAlmostTheLimitOnlyWhatIsLeftIsTheCost() {
        Job job = auto(20 * MILLISECOND, 0.5, 0.5, 0.02);
        job.gpuNanos = 24 * MILLISECOND;
        for (int i = 0; i < 100 && !job.schedule.why().startsWith("detail makes"); i++) {
            job.run(SECOND);
        }
        assertThat(job.schedule.recorded()).isEqualTo("windows");
        assertThat(job.schedule.why()).matches("detail makes a step (1[3-9]|2[0-9]|3[0-7])[.].*");
    }

    @ParameterizedTest
    @CsvSource({"60, 0.2, 600", "60, 0.5, 600", "30, 0.1, 600", "500, 0.2, 600", "3000, 0.3, 3600"})
    void whatCostsTooMuchIsRecordedInWindowsAndTheBudgetIsKept(long millis, double cost, long seconds) {
        Job job = auto(millis * MILLISECOND, cost, cost, 0.02);
        job.run(seconds * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("windows");
        assertThat((double) job.lostNanos / (seconds * SECOND)).isLessThan(1.3 * BUDGET);
        assertThat(job.windows).isGreaterThanOrEqualTo(8);
    }

    @ParameterizedTest
    @CsvSource({"60, 0.22, 0.5", "1000, 0.05, 0.2", "300, 0.03, 0.3"})
    void whereStepsDifferMuchTheBudgetIsKeptToo(long millis, double cost, double noise) {
        Job job = auto(millis * MILLISECOND, cost, cost, noise);
        job.run(3600 * SECOND);
        assertThat((double) job.lostNanos / (3600 * SECOND)).isLessThan(1.6 * BUDGET);
    }

    @Test
    void whatIsFreeAgainIsRecordedAllTheTimeWhenThatHasShown() {
        Job job = auto(100 * MILLISECOND, 0.05, 0.05, 0.02);
        job.run(60 * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("windows");
        job.cost = 0;
        job.run(3600 * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("all");
    }

    @Test
    void shortStepsHaveAWindowEveryTenSeconds() {
        Job job = auto(60 * MILLISECOND, 0.2, 0.2, 0.02);
        job.run(120 * SECOND);
        assertThat(job.longestPause).isLessThan(10_100 * MILLISECOND);
        assertThat(job.windows).isGreaterThan(15);
    }

    @Test
    void aShortRecordingSaysThatThereWasNoTime() {
        Job job = auto(2 * SECOND, 0.2, 0.2, 0.02);
        job.run(5 * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("all");
        assertThat(job.schedule.why()).isEqualTo("there was no time to try what it costs: 1 step");
    }

    @Test
    void withoutStepsTheCostOfACallDecides() {
        Job cheap = auto(0, 0, 0.005, 0);
        cheap.run(60 * SECOND);
        assertThat(cheap.schedule.recorded()).isEqualTo("all");
        assertThat(cheap.open).isTrue();
        Job dear = auto(0, 0.05, 0.05, 0);
        dear.run(300 * SECOND);
        assertThat(dear.schedule.recorded()).isEqualTo("windows");
        assertThat((double) dear.openNanos / (300 * SECOND)).isCloseTo(BUDGET / 0.05, within(0.03));
        assertThat(dear.schedule.why())
                .isEqualTo("there are no steps to measure by, and detail takes 5.00 % of a CPU by the cost of a call");
    }

    @ParameterizedTest
    @CsvSource({"0.05, 0.2, windows", "0.05, 0, all", "0.005, 0.2, windows"})
    void aJobWhoseStepsBeginLateIsMeasuredThen(double share, double cost, String recorded) {
        Job job = auto(0, cost, share, 0.005);
        job.run(30 * SECOND);
        assertThat(job.schedule.why()).startsWith("there are no steps to measure by");
        job.stepNanos = 100 * MILLISECOND;
        job.run(120 * SECOND);
        assertThat(job.schedule.why()).startsWith("detail makes a step ");
        assertThat(job.schedule.recorded()).isEqualTo(recorded);
    }

    @Test
    void turnsOfStepsAreAsAsked() {
        Job job = new Job(Detail.parse("5/100").orElseThrow(), 100 * MILLISECOND, 0.1, 0.1, 0.01);
        job.run(300 * SECOND);
        assertThat((double) job.openNanos / (300 * SECOND)).isCloseTo(0.06, within(0.015));
        assertThat(job.schedule.why()).isEqualTo("as asked");
    }

    @Test
    void aTriggerOpensAWindowAtOnce() {
        Job job = auto(60 * MILLISECOND, 0.2, 0.2, 0.02);
        job.run(60 * SECOND);
        while (job.open || job.closing) {
            job.run(TICK);
        }
        job.run(SECOND);
        int before = job.windows;
        job.schedule.trigger(job.now);
        assertThat(job.schedule.reason()).isEqualTo("trigger");
        job.run(2 * TICK);
        assertThat(job.windows).isEqualTo(before + 1);
    }

    @Test
    void triggersWithoutEndKeepTheBudget() {
        Job job = auto(60 * MILLISECOND, 0.2, 0.2, 0.02);
        job.run(60 * SECOND);
        long lost = job.lostNanos;
        int windows = job.windows;
        for (long end = job.now + 60 * SECOND; job.now < end; ) {
            job.schedule.trigger(job.now);
            job.run(TICK);
        }
        assertThat((double) (job.lostNanos - lost) / (60 * SECOND)).isLessThan(1.3 * BUDGET);
        assertThat(job.windows - windows).isGreaterThan(5);
    }

    @Test
    void aJobThatBeginsToLaunchMoreIsTriedAgain() {
        Job job = auto(100 * MILLISECOND, 0, 0.01, 0.005);
        job.run(120 * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("all");
        job.cost = 0.3;
        job.share = 0.3;
        job.run(60 * SECOND);
        assertThat(job.schedule.recorded()).isEqualTo("windows");
    }
}
