package io.dyber.zernel.record;

import io.dyber.zernel.record.sink.RecordingFile.Border;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// How far a recording is at a moment: what a file holds and what it lost is the difference of two.
///
/// @param number of the part that begins here, from 1
/// @param nanos since the epoch
/// @param border in the file
/// @param functions sums of each, by number
/// @param kinds events of each kind
/// @param filtered calls of each kind that the kernel side left out, where it does
/// @param lost events of each kind
/// @param ends lost
/// @param ended whether nothing is recorded any more
record Standing(
        int number,
        long nanos,
        Border border,
        Map<Integer, FunctionCounts> functions,
        Map<String, Long> kinds,
        Map<String, Long> filtered,
        Map<String, Long> lost,
        long ends,
        boolean ended) {
    /// Before the first event.
    static Standing first(long nanos) {
        return new Standing(1, nanos, new Border(0, 0), Map.of(), Map.of(), Map.of(), Map.of(), 0, false);
    }

    long events(Standing before) {
        return border.events() - before.border.events();
    }

    /// Events of a kind after the other.
    long eventsSince(Standing before, String kind) {
        return kinds.getOrDefault(kind, 0L) - before.kinds.getOrDefault(kind, 0L);
    }

    /// Calls of a kind that were left out after the other, where any can be.
    Optional<Long> filteredSince(Standing before, String kind) {
        return Optional.ofNullable(filtered.get(kind)).map(count -> count - before.filtered.getOrDefault(kind, 0L));
    }

    /// What was lost after the other, by kind.
    Map<String, Long> lostSince(Standing before) {
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
