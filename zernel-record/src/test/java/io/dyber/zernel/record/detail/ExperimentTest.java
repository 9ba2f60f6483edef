package io.dyber.zernel.record.detail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Turns of steps of which it is known how much longer detail makes them.
final class ExperimentTest {
    private static final long MICROSECOND = 1000;
    private static final int THREAD = 7;

    private final Experiment experiment = new Experiment();
    private long now = 1_000_000_000;
    private long stepBegan = now;
    private long gpuEnd = now;
    private int step;
    private final List<Step> started = new ArrayList<>();

    /// A time in which steps take so many microseconds.
    private void period(boolean detailed, List<Double> micros) {
        experiment.begins(detailed, now);
        for (double length : micros) {
            long end = now + (long) (length * MICROSECOND);
            experiment.add(new Step(THREAD, now, end));
            now = end;
        }
        experiment.ends(now);
    }

    private static List<Double> steps(int first, int count, IntToDoubleFunction micros) {
        List<Double> steps = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            steps.add(micros.applyAsDouble(i));
        }
        return steps;
    }

    @Test
    void twoTurnsTellNothing() {
        for (int i = 0; i < 2; i++) {
            period(false, steps(0, 10, _ -> 100));
            period(true, steps(0, 10, _ -> 120));
        }
        assertThat(experiment.estimate().isKnown()).isFalse();
    }

    @Test
    void aDriftOfTheJobIsNoEffect() {
        for (int i = 0; i < 6; i++) {
            int first = 20 * i;
            period(false, steps(first, 10, step -> 100 + step));
            period(true, steps(first + 10, 10, step -> 1.2 * (100 + step)));
        }
        period(false, steps(120, 10, step -> 100 + step));
        Experiment.Estimate estimate = experiment.estimate();
        assertThat(estimate.effect()).isCloseTo(0.2, within(0.002));
        assertThat(estimate.low()).isGreaterThan(0.19);
        assertThat(estimate.high()).isLessThan(0.21);
    }

    @Test
    void oneLongStepIsNoEffect() {
        for (int i = 0; i < 6; i++) {
            int turn = i;
            period(false, steps(0, 10, _ -> 100));
            period(true, steps(0, 10, step -> turn == 3 && step == 5 ? 10_000 : 100));
        }
        assertThat(experiment.estimate().effect()).isCloseTo(0, within(1e-9));
    }

    /// A program that launches a step of 20 ms on its GPU in 9 ms, in 12 ms with detail, and waits for all of them in each
    /// tenth.
    private void launch(boolean detailed, long until) {
        experiment.begins(detailed, now);
        while (stepBegan < until) {
            gpuEnd = Math.max(gpuEnd, stepBegan) + 20_000 * MICROSECOND;
            long launched = stepBegan + (detailed ? 12_000 : 9_000) * MICROSECOND;
            long end = step % 10 == 9 ? Math.max(launched, gpuEnd) : launched;
            started.add(new Step(THREAD, stepBegan, end));
            stepBegan = end;
            step++;
        }
        now = until;
        experiment.ends(now);
    }

    @Test
    void whatWaitsGetShorterByIsNoEffect() {
        Random random = new Random(5);
        List<Double> effects = new ArrayList<>();
        for (int trial = 0; trial < 200; trial++) {
            experiment.restart();
            for (int turn = 0; turn < 16; turn++) {
                launch(turn % 2 == 1, now + (long) ((1200 + 200 * random.nextDouble()) * 1000 * MICROSECOND));
            }
            started.forEach(experiment::add);
            started.clear();
            effects.add(experiment.estimate().effect());
        }
        effects.sort(Double::compare);
        assertThat(effects.get(100)).isCloseTo(0, within(0.02));
        assertThat(effects.get(10)).isGreaterThan(-0.1);
        assertThat(effects.get(190)).isLessThan(0.1);
    }

    /// Steps of jobs on an H100 by their own clock, in windows without recording and with all detail in turns: GPT-2, which
    /// the GPU limits, 150 small layers, which the CPU does, and residual blocks.
    private static List<List<Double>> real(String job, String how) throws IOException {
        List<List<Double>> windows = new ArrayList<>();
        String last = "";
        try (InputStream file = ExperimentTest.class.getResourceAsStream("h100-steps.csv")) {
            for (String line : new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                String[] row = line.split(",");
                if (row[0].equals(job) && row[1].equals(how)) {
                    if (!row[2].equals(last)) {
                        windows.add(new ArrayList<>());
                    }
                    windows.getLast().add(Double.valueOf(row[3]));
                    last = row[2];
                }
            }
        }
        return windows;
    }

    private static List<Double> some(List<List<Double>> windows, int count, Random random) {
        List<List<Double>> enough = windows.stream().filter(one -> one.size() >= count).toList();
        List<Double> window = enough.get(random.nextInt(enough.size()));
        int from = random.nextInt(window.size() - count + 1);
        return window.subList(from, from + count);
    }

    @ParameterizedTest
    @CsvSource({"gpt, 0.01", "tiny, 0.17", "resnet, 0.16"})
    void turnsOfRealStepsTellWhatAllOfThemDo(String job, double effect) throws IOException {
        List<List<Double>> without = real(job, "off");
        List<List<Double>> with = real(job, "all");
        Random random = new Random(11);
        List<Double> effects = new ArrayList<>();
        int told = 0;
        for (int trial = 0; trial < 200; trial++) {
            experiment.restart();
            for (int turn = 0; turn < 8; turn++) {
                period(false, some(without, 20, random));
                period(true, some(with, 20, random));
            }
            Experiment.Estimate estimate = experiment.estimate();
            effects.add(estimate.effect());
            told += estimate.low() <= effect && estimate.high() >= effect ? 1 : 0;
        }
        effects.sort(Double::compare);
        assertThat(effects.get(100)).as("the median of trials").isCloseTo(effect, within(0.035));
        assertThat(told).as("trials of 200 whose interval holds it").isGreaterThan(160);
    }
}
