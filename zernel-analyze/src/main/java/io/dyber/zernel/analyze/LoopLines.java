package io.dyber.zernel.analyze;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Counts lines together that are the body of one loop: its time is that of Python itself, wherever in it a sample falls.
final class LoopLines {
    /// Lines between two of a loop: a comment, a branch, or one that takes no time.
    private static final int APART = 3;
    /// Of the time of a rule: of a line with less one cannot say whether it is one of the loop.
    private static final double LEAST_SHARE = 0.01;

    private static final Pattern PLACE = Pattern.compile("(?<file>.*):(?<number>\\d{1,9}) (?<function>.*)");

    private final FindingLine most;
    private final String file;
    private final String function;
    private final int number;
    private int first;
    private int last;
    private double share;
    private double amount;
    private long count;

    private LoopLines(FindingLine line, Matcher place) {
        this.most = line;
        this.file = place.group("file");
        this.function = place.group("function");
        this.number = Integer.parseInt(place.group("number"));
        this.first = number;
        this.last = number;
        count(line);
    }

    private void count(FindingLine line) {
        share += line.share();
        amount += line.amount();
        count += line.count();
    }

    /// Lines of one function that call nothing, stand near each other and have the same faster way, if any, are told as the one
    /// that has most, with the others' time.
    ///
    /// @param lines of one rule, most first
    static List<FindingLine> together(List<FindingLine> lines) {
        List<FindingLine> whole = new ArrayList<>();
        List<LoopLines> loops = new ArrayList<>();
        for (FindingLine line : lines) {
            Optional<LoopLines> alone = of(line);
            if (alone.isEmpty()) {
                whole.add(line);
            } else if (loops.stream().noneMatch(loop -> loop.takes(alone.get()))) {
                loops.add(alone.get());
            }
        }
        loops.forEach(loop -> whole.add(loop.line()));
        return whole;
    }

    private static Optional<LoopLines> of(FindingLine line) {
        Matcher place = PLACE.matcher(line.line());
        boolean isLoop = line.calls() == null && line.share() >= LEAST_SHARE;
        return isLoop && place.matches() ? Optional.of(new LoopLines(line, place)) : Optional.empty();
    }

    private boolean takes(LoopLines other) {
        boolean isNear = other.file.equals(file)
                && other.function.equals(function)
                && Objects.equals(other.most.faster(), most.faster())
                && other.number >= first - APART
                && other.number <= last + APART;
        if (isNear) {
            first = Math.min(first, other.number);
            last = Math.max(last, other.number);
            count(other.most);
        }
        return isNear;
    }

    private FindingLine line() {
        String within = first == last ? null : "lines " + first + " to " + last;
        return new FindingLine(most.of(), share, most.line(), within, null, most.faster(), amount, count);
    }
}
