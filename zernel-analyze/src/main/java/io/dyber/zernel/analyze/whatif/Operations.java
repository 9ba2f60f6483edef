package io.dyber.zernel.analyze.whatif;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/// What the ranks of a job did in its steps, and what each operation waited for. Operations are numbered from 0.
///
/// An operation begins when all that it waits for has ended. Those of one group begin together, with the last of them:
/// they are what the ranks of a collective do, or the two sides of a send. Steps do not wait for each other.
final class Operations {
    private static final int ALONE = -1;

    private int[] steps = new int[1024];
    private int[] groups = new int[1024];
    private int[] peers = new int[1024];
    private boolean[] communication = new boolean[1024];
    private double[] seconds = new double[1024];
    private int[][] after = new int[1024][];
    private int size;
    private int stepCount;
    private int groupCount;

    int size() {
        return size;
    }

    int stepCount() {
        return stepCount;
    }

    int step(int operation) {
        return steps[operation];
    }

    /// How long it took, of one of a group from when the last of them began.
    double[] seconds() {
        return Arrays.copyOf(seconds, size);
    }

    /// A new step, which follows no other one.
    int addStep() {
        return stepCount++;
    }

    int addGroup() {
        return groupCount++;
    }

    /// Adds one.
    ///
    /// @param peersKey the same number for operations that would take the same time in a job without stragglers, from 0
    /// @param communicates whether its peers are measured by their median, not by their mean
    /// @param waitsFor operations that end before it begins
    int add(int step, int peersKey, boolean communicates, double duration, int... waitsFor) {
        if (size == steps.length) {
            int more = size + (size >> 1);
            steps = Arrays.copyOf(steps, more);
            groups = Arrays.copyOf(groups, more);
            peers = Arrays.copyOf(peers, more);
            communication = Arrays.copyOf(communication, more);
            seconds = Arrays.copyOf(seconds, more);
            after = Arrays.copyOf(after, more);
        }
        steps[size] = step;
        groups[size] = ALONE;
        peers[size] = peersKey;
        communication[size] = communicates;
        seconds[size] = duration;
        after[size] = waitsFor;
        return size++;
    }

    /// Puts an operation into a group.
    void join(int operation, int group) {
        groups[operation] = group;
    }

    int[] waitsFor(int operation) {
        return after[operation];
    }

    void seconds(int operation, double duration) {
        seconds[operation] = duration;
    }

    /// Sets of operations that begin together: groups, and each operation alone that is in none.
    int[][] together() {
        int[] count = new int[groupCount];
        int alone = 0;
        for (int i = 0; i < size; i++) {
            if (groups[i] == ALONE) {
                alone++;
            } else {
                count[groups[i]]++;
            }
        }
        int[][] sets = new int[groupCount + alone][];
        for (int group = 0; group < groupCount; group++) {
            sets[group] = new int[count[group]];
        }
        int next = groupCount;
        for (int i = size - 1; i >= 0; i--) {
            if (groups[i] == ALONE) {
                sets[next++] = new int[] {i};
            } else {
                sets[groups[i]][--count[groups[i]]] = i;
            }
        }
        return sets;
    }

    /// How long each would take if it took what its peers take, in seconds: their mean, of communication their median.
    ///
    /// @param counted the peers that count; where none of an operation's does, all do
    double[] usualSeconds(IntPredicate counted) {
        double[] usual = new double[size];
        int kinds = Arrays.stream(peers, 0, size).max().orElse(-1) + 1;
        for (int kind = 0; kind < kinds; kind++) {
            int of = kind;
            int[] all = IntStream.range(0, size).filter(i -> peers[i] == of).toArray();
            int[] some = Arrays.stream(all).filter(counted).toArray();
            double[] values = Arrays.stream(some.length == 0 ? all : some).mapToDouble(i -> seconds[i]).toArray();
            double value = all.length > 0 && communication[all[0]] ? median(values) : Arrays.stream(values).average().orElse(0);
            for (int i : all) {
                usual[i] = value;
            }
        }
        return usual;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return (values[(values.length - 1) / 2] + values[values.length / 2]) / 2;
    }
}
