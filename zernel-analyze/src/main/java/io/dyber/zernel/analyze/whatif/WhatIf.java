package io.dyber.zernel.analyze.whatif;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// What stragglers cost a job, and whose they are: its steps are replayed with the durations of their peers.
///
/// The method, `gain` aside, is that of "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI
/// 2025, arXiv:2505.05713): equations 1 (slowdown), 2 and 4 (of a part), 5 (`m_w`) and section 5.2 (`m_s`).
///
/// @param operations how many were replayed
/// @param ranks that did them
/// @param steps that they are of
/// @param seconds how long a step took on average, as it was recorded, in seconds
/// @param replayed how long it takes without gaps between operations, in seconds
/// @param ideal how long it takes if each operation takes what its peers take, in seconds
/// @param slowdown `replayed / ideal`, 1 where all ranks are alike
/// @param mw share of the slowdown that goes when the worst ranks take what their peers take, 0 to 1 and at times a bit
///        beyond; null where there is hardly a slowdown
/// @param ms the same for the last pipeline stage; null also where there is only one
/// @param worst the worst 3 % of ranks, at least one, worst first; empty where there is hardly a slowdown
/// @param gain how many times as fast steps are when these take what the other ranks take; 1 where there are none
/// @param parts slowdowns by part, the largest of each kind first
/// @param left what was left out and why, as sentences
public record WhatIf(
        int operations,
        int ranks,
        int steps,
        double seconds,
        double replayed,
        double ideal,
        double slowdown,
        @Nullable Double mw,
        @Nullable Double ms,
        List<String> worst,
        double gain,
        List<Part> parts,
        List<String> left) {
    private static final double WORST = 0.03;
    /// A slowdown below it is no more than what replays are off by.
    private static final double LEAST = 1.01;

    /// One part of a job.
    ///
    /// @param by what it is one of, such as `rank`
    /// @param name the part
    /// @param slowdown how many times as long steps take if only its operations keep their own durations; of a rank, at
    ///        most that: the least of its data-parallel rank and its stage
    /// @param share of the slowdown, `(slowdown - 1) / (job's slowdown - 1)`; shares do not add up to 1. Null where the
    ///        job has hardly a slowdown
    public record Part(String by, String name, double slowdown, @Nullable Double share) {}

    /// Whether a file is an operation trace, as docs/what-if.md describes it.
    public static boolean reads(DuckDb duckDb, String file) {
        return OperationTrace.isOne(duckDb, file);
    }

    /// Of an operation trace.
    ///
    /// @throws io.dyber.zernel.format.RecordingException if there is no whole step in it
    public static WhatIf of(DuckDb duckDb, String file) {
        return of(OperationTrace.read(duckDb, file));
    }

    static WhatIf of(Job job) {
        Replay replay = new Replay(job.operations());
        double[] own = job.operations().seconds();
        double[] usual = job.operations().usualSeconds(_ -> true);
        double replayed = replay.meanSeconds(own);
        double ideal = replay.meanSeconds(usual);
        double slowdown = replayed / ideal;
        boolean slowed = slowdown >= LEAST;
        List<Slowdowns> slowdowns = new ArrayList<>();
        for (Dimension place : job.places()) {
            slowdowns.add(new Slowdowns(place, slowdowns(replay, place, own, usual, ideal)));
        }
        Slowdowns ofRanks = new Slowdowns(job.ranks(), leastOfPlaces(job, slowdowns));
        slowdowns.addFirst(ofRanks);
        slowdowns.add(new Slowdowns(job.types(), slowdowns(replay, job.types(), own, usual, ideal)));
        List<Integer> worst = slowed ? ofRanks.largest((int) Math.ceil(WORST * ofRanks.values.size())) : List.of();
        Set<Integer> worstRanks = new HashSet<>(worst);
        IntPredicate ofWorst = i -> worstRanks.contains(job.ranks().partOf(i));
        double[] others = job.operations().usualSeconds(ofWorst.negate());
        double evened = replay.meanSeconds(replaced(own, usual, ofWorst));
        double mended = replay.meanSeconds(replaced(own, others, ofWorst));
        IntPredicate last = job.lastStage();
        return new WhatIf(
                job.operations().size(),
                job.ranks().parts().size(),
                job.operations().stepCount(),
                job.seconds(),
                replayed,
                ideal,
                slowdown,
                slowed ? (replayed - evened) / (replayed - ideal) : null,
                slowed && last != null
                        ? (replayed - replay.meanSeconds(replaced(own, usual, last))) / (replayed - ideal)
                        : null,
                worst.stream().map(rank -> job.ranks().parts().get(rank)).toList(),
                replayed / mended,
                slowdowns.stream().flatMap(of -> of.parts(slowed ? slowdown : null).stream()).toList(),
                job.left());
    }

    /// How many times as long steps take if only one part keeps its own durations, of each part.
    private static List<Double> slowdowns(Replay replay, Dimension dimension, double[] own, double[] usual, double ideal) {
        return IntStream.range(0, dimension.parts().size())
                .parallel()
                .mapToObj(part -> replay.meanSeconds(replaced(usual, own, i -> dimension.partOf(i) == part)) / ideal)
                .toList();
    }

    /// To replay each of thousands of ranks would take long; a rank is no slower than its replica, and than its stage.
    private static List<Double> leastOfPlaces(Job job, List<Slowdowns> places) {
        double[] least = new double[job.ranks().parts().size()];
        Arrays.fill(least, Double.POSITIVE_INFINITY);
        for (int i = 0; i < job.operations().size(); i++) {
            int rank = job.ranks().partOf(i);
            for (Slowdowns place : places) {
                least[rank] = Math.min(least[rank], place.values.get(place.of.partOf(i)));
            }
        }
        return Arrays.stream(least).boxed().toList();
    }

    private static double[] replaced(double[] seconds, double[] by, IntPredicate where) {
        return IntStream.range(0, seconds.length)
                .mapToDouble(i -> where.test(i) ? by[i] : seconds[i])
                .toArray();
    }

    /// Slowdowns of the parts of a split.
    private record Slowdowns(Dimension of, List<Double> values) {
        /// The parts with the largest ones, by number; of equal ones the first.
        List<Integer> largest(int most) {
            return IntStream.range(0, values.size())
                    .boxed()
                    .sorted(Comparator.comparing(values::get, Comparator.reverseOrder()))
                    .limit(most)
                    .toList();
        }

        List<Part> parts(@Nullable Double whole) {
            return largest(values.size()).stream()
                    .map(part -> new Part(
                            of.name(),
                            of.parts().get(part),
                            values.get(part),
                            whole == null ? null : (values.get(part) - 1) / (whole - 1)))
                    .toList();
        }
    }
}
