package io.dyber.zernel.analyze.whatif;

import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// What a job did, ready to be replayed.
///
/// @param seconds how long a step took on average, as it was recorded, in seconds
/// @param ranks which rank did each operation
/// @param places of a rank in the job: the least slowdown of its places is its own
/// @param types what each operation does
/// @param lastStage whether an operation is of the last pipeline stage; null where there is only one
/// @param left what was left out and why, as sentences
record Job(
        Operations operations,
        double seconds,
        Dimension ranks,
        List<Dimension> places,
        Dimension types,
        @Nullable IntPredicate lastStage,
        List<String> left) {}
