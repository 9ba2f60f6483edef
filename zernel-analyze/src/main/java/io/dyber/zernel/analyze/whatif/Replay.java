package io.dyber.zernel.analyze.whatif;

import io.dyber.zernel.format.RecordingException;
import java.util.Arrays;

/// Steps as they would run with given durations: no operation waits for anything but what it depends on.
///
/// The order of operations is found once, so that a replay costs one pass over them.
final class Replay {
    private final Operations operations;
    private final int[][] order;

    /// @throws RecordingException if operations wait for each other in a circle
    Replay(Operations operations) {
        this.operations = operations;
        this.order = ordered(operations);
    }

    /// How long each step takes, in seconds: from its begin to the end of what ends last.
    double[] stepSeconds(double[] seconds) {
        double[] steps = new double[operations.stepCount()];
        double[] ends = ends(seconds);
        for (int i = 0; i < ends.length; i++) {
            int step = operations.step(i);
            steps[step] = Math.max(steps[step], ends[i]);
        }
        return steps;
    }

    /// How long a step takes on average.
    double meanSeconds(double[] seconds) {
        return Arrays.stream(stepSeconds(seconds)).average().orElse(0);
    }

    private double[] ends(double[] seconds) {
        double[] ends = new double[seconds.length];
        for (int[] together : order) {
            double begin = 0;
            for (int operation : together) {
                for (int before : operations.waitsFor(operation)) {
                    begin = Math.max(begin, ends[before]);
                }
            }
            for (int operation : together) {
                ends[operation] = begin + seconds[operation];
            }
        }
        return ends;
    }

    private static int[][] ordered(Operations operations) {
        int[][] sets = operations.together();
        int[] setOf = new int[operations.size()];
        for (int set = 0; set < sets.length; set++) {
            for (int operation : sets[set]) {
                setOf[operation] = set;
            }
        }
        int[] missing = new int[sets.length];
        int[] followers = new int[sets.length + 1];
        for (int i = 0; i < setOf.length; i++) {
            missing[setOf[i]] += operations.waitsFor(i).length;
            for (int before : operations.waitsFor(i)) {
                followers[setOf[before] + 1]++;
            }
        }
        for (int set = 0; set < sets.length; set++) {
            followers[set + 1] += followers[set];
        }
        int[] next = new int[followers[sets.length]];
        int[] place = followers.clone();
        for (int i = 0; i < setOf.length; i++) {
            for (int before : operations.waitsFor(i)) {
                next[place[setOf[before]]++] = setOf[i];
            }
        }
        int[] queue = new int[sets.length];
        int queued = 0;
        for (int set = 0; set < sets.length; set++) {
            if (missing[set] == 0) {
                queue[queued++] = set;
            }
        }
        for (int done = 0; done < queued; done++) {
            for (int i = followers[queue[done]]; i < followers[queue[done] + 1]; i++) {
                if (--missing[next[i]] == 0) {
                    queue[queued++] = next[i];
                }
            }
        }
        if (queued < sets.length) {
            throw new RecordingException(
                    "replaying " + operations.size() + " operations: " + (sets.length - queued) + " of them wait for each other in a circle",
                    "sends and receives may be numbered in another order than they ran");
        }
        return Arrays.stream(queue).mapToObj(set -> sets[set]).toArray(int[][]::new);
    }
}
