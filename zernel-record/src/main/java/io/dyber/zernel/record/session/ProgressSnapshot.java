package io.dyber.zernel.record.session;

import io.dyber.zernel.record.attach.FunctionCounts;
import io.dyber.zernel.record.recording.RecordingFile.CutPoint;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// How far a recording is at a moment: what a file holds and what it lost is the difference of two.
///
/// @param number of the part that begins here, from 1
/// @param nanos since the epoch
/// @param cutPoint in the file
/// @param functions sums of each, by number
/// @param kinds events of each kind
/// @param filtered calls of each kind that the kernel side left out, where it does
/// @param lost events of each kind
/// @param ends lost
/// @param ended whether nothing is recorded any more
record ProgressSnapshot(
        int number,
        long nanos,
        CutPoint cutPoint,
        Map<Integer, FunctionCounts> functions,
        Map<String, Long> kinds,
        Map<String, Long> filtered,
        Map<String, Long> lost,
        long ends,
        boolean ended) {
    /// Before the first event.
    static ProgressSnapshot first(long nanos) {
        return new ProgressSnapshot(1, nanos, new CutPoint(0, 0), Map.of(), Map.of(), Map.of(), Map.of(), 0, false);
    }

    long events(ProgressSnapshot before) {
        return cutPoint.events() - before.cutPoint.events();
    }

    /// Events of a kind after the other.
    long eventsSince(ProgressSnapshot before, String kind) {
        return kinds.getOrDefault(kind, 0L) - before.kinds.getOrDefault(kind, 0L);
    }

    /// Calls of a kind that were left out after the other, where any can be.
    Optional<Long> filteredSince(ProgressSnapshot before, String kind) {
        return Optional.ofNullable(filtered.get(kind)).map(count -> count - before.filtered.getOrDefault(kind, 0L));
    }

    /// What was lost after the other, by kind.
    Map<String, Long> lostSince(ProgressSnapshot before) {
        Map<String, Long> more = new LinkedHashMap<>();
        lost.forEach((kind, count) -> {
            long earlier = before.lost.getOrDefault(kind, 0L);
            if (count > earlier) {
                more.put(kind, count - earlier);
            }
        });
        return more;
    }
}
