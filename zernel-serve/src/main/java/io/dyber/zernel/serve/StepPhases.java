package io.dyber.zernel.serve;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Splits the wall time of one step of one thread into phases: the innermost open call decides, so nested calls never
/// count twice, and the time that leads from a batch to its backward pass is the forward pass. The same rules as the
/// analyzer's view `_segments`.
final class StepPhases {
    private static final Comparator<Call> OUTER_FIRST =
            Comparator.comparingLong(Call::start).thenComparing(Comparator.comparingLong(Call::end).reversed());

    private final Map<Phase, Long> nanos = new EnumMap<>(Phase.class);
    private final Deque<Call> open = new ArrayDeque<>();
    private long cursor;
    private long gapNanos;
    private long closureEnd = Long.MIN_VALUE;

    /// A call of the thread.
    record Call(Part part, long start, long end) {
        boolean isMarker() {
            return part == Part.DATA_WAIT || part == Part.OPTIMIZER_STEP;
        }
    }

    private StepPhases(long start) {
        this.cursor = start;
        for (Phase phase : Phase.values()) {
            nanos.put(phase, 0L);
        }
    }

    /// Nanoseconds of every phase, adding up to `end - start`.
    ///
    /// @param hasLoader whether the thread reads batches; only then is there a forward pass to infer
    static Map<Phase, Long> of(long start, long end, List<Call> calls, boolean hasLoader) {
        StepPhases phases = new StepPhases(start);
        List<Call> relevant = relevant(calls);
        for (Call call : relevant) {
            if (call.start() < end && call.end() > start) {
                phases.enter(call, hasLoader, closureEnd(call, relevant));
            }
        }
        phases.moveTo(end);
        phases.settleGap(Phase.UNKNOWN);
        return phases.nanos;
    }

    /// Without the calls inside a data wait, and without named regions around a whole step or loop.
    private static List<Call> relevant(List<Call> calls) {
        List<Call> sorted = new ArrayList<>(calls);
        sorted.sort(OUTER_FIRST);
        List<Call> kept = new ArrayList<>(sorted.size());
        long waitingUntil = Long.MIN_VALUE;
        for (int i = 0; i < sorted.size(); i++) {
            Call call = sorted.get(i);
            if (call.start() >= waitingUntil && !(call.part() == Part.COMPUTE && holdsMarker(sorted, i))) {
                kept.add(call);
            }
            if (call.part() == Part.DATA_WAIT) {
                waitingUntil = Math.max(waitingUntil, call.end());
            }
        }
        return kept;
    }

    private static boolean holdsMarker(List<Call> sorted, int position) {
        long end = sorted.get(position).end();
        for (int i = position + 1; i < sorted.size() && sorted.get(i).start() < end; i++) {
            if (sorted.get(i).isMarker()) {
                return true;
            }
        }
        return false;
    }

    /// When the last backward pass inside an optimizer's step ended: all up to it is the closure that the optimizer was given.
    private static long closureEnd(Call call, List<Call> calls) {
        return call.part() != Part.OPTIMIZER_STEP
                ? Long.MIN_VALUE
                : calls.stream()
                        .filter(inner -> inner.part() == Part.BACKWARD
                                && inner.start() >= call.start()
                                && inner.end() <= call.end())
                        .mapToLong(Call::end)
                        .max()
                        .orElse(Long.MIN_VALUE);
    }

    private void enter(Call call, boolean hasLoader, long closure) {
        moveTo(Math.max(call.start(), cursor));
        closureEnd = Math.max(closureEnd, closure);
        if (call.part() == Part.BACKWARD) {
            settleGap(hasLoader ? Phase.GPU_COMPUTE : Phase.UNKNOWN);
        } else if (call.isMarker() && closure == Long.MIN_VALUE) {
            settleGap(Phase.UNKNOWN);
        }
        open.push(call);
    }

    private void settleGap(Phase phase) {
        nanos.merge(phase, gapNanos, Long::sum);
        gapNanos = 0;
    }

    private void moveTo(long time) {
        while (!open.isEmpty() && open.element().end() <= time) {
            Call innermost = open.pop();
            advance(innermost.end(), innermost);
        }
        if (open.isEmpty()) {
            gapNanos += Math.max(0, time - cursor);
            cursor = Math.max(cursor, time);
        } else {
            advance(time, open.element());
        }
    }

    private void advance(long time, Call within) {
        if (time > cursor) {
            boolean computes = within.part() == Part.OPTIMIZER_STEP && cursor < closureEnd;
            nanos.merge(computes ? Phase.GPU_COMPUTE : within.part().phase(), time - cursor, Long::sum);
            cursor = time;
        }
    }
}
