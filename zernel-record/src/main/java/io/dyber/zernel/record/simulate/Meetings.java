package io.dyber.zernel.record.simulate;

import java.util.List;
import java.util.OptionalLong;

/// When the ranks of a job met: what those of one machine have to know of all others.
///
/// @param startNanos when the communicator was made
/// @param endNanos when each operation of it was done on all ranks, [Program#NEVER] for one that a rank did not come to
/// @param missing the number of the first of those
/// @param stepNanos mean length of a step of the first rank
record Meetings(long startNanos, List<Long> endNanos, OptionalLong missing, long stepNanos) {
    Meetings {
        endNanos = List.copyOf(endNanos);
    }

    long endNanos(long number) {
        return number < endNanos.size() ? endNanos.get((int) number) : Program.NEVER;
    }
}
