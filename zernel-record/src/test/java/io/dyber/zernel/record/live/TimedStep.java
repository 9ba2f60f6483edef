package io.dyber.zernel.record.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// A step that a job of a benchmark timed itself.
///
/// @param start on CLOCK_MONOTONIC
record TimedStep(long start, long nanos) {
    /// Those of the file that the job wrote: start and length on each line.
    static List<TimedStep> read(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.map(line -> line.split(" "))
                    .map(step -> new TimedStep(Long.parseLong(step[0]), Long.parseLong(step[1])))
                    .toList();
        }
    }

    long end() {
        return start + nanos;
    }

    /// Whether it began and ended between the two.
    boolean isIn(long from, long to) {
        return start >= from && end() <= to;
    }

    /// The length that `share` of them do not reach, from 0 to less than 1; of none, nothing is known.
    static double quantile(List<TimedStep> steps, double share) {
        long[] nanos = steps.stream().mapToLong(TimedStep::nanos).sorted().toArray();
        return nanos.length == 0 ? Double.NaN : nanos[(int) (nanos.length * share)];
    }

    static double mean(List<TimedStep> steps) {
        return steps.stream().mapToLong(TimedStep::nanos).average().orElse(Double.NaN);
    }
}
