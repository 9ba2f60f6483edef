package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Database;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// What is inferred from a recording while it grows: asked again and again about its last minute, it tells each step and
/// each collective once, as soon as no later event can change it.
///
/// Not thread-safe.
final class GrowingInferences {
    private static final long MINUTE_NANOS = 60_000_000_000L;
    /// What is looked at before the end of a step, so that the call that ended it is in it.
    private static final long MARGIN_NANOS = 10_000_000_000L;
    /// Calls are written at the latest so long after they have returned.
    private static final long WRITTEN_AFTER_NANOS = 500_000_000L;
    /// A thread without an optimizer trains if it reads more batches than a look at the data takes, or for longer.
    private static final int BATCHES_OF_A_LOOK = 32;

    private static final long LOOK_NANOS = 30_000_000_000L;
    private static final int THREADS = 4096;

    private final Map<ThreadId, Told> threads = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ThreadId, Told> eldest) {
            return size() > THREADS;
        }
    };
    private long knownUntilNanos = Long.MIN_VALUE;

    private record ThreadId(long pid, long tid) {}

    /// The last step of a thread that was told.
    private record Told(long endNanos, Source source) {}

    /// What says that something is a step; later ones are better, and a worse one is not believed after a better one.
    private enum Source {
        PERIODICITY,
        DATA_LOADER,
        OPTIMIZER,
        ROLE;

        static Source of(String name) {
            return switch (name) {
                case "Optimizer.step" -> OPTIMIZER;
                case "DataLoader" -> DATA_LOADER;
                default -> name.startsWith("role of ") ? ROLE : PERIODICITY;
            };
        }
    }

    /// What follows from the events since `fromNanos`.
    ///
    /// @param untilNanos up to where all events are there
    private record Answer(
            long fromNanos, long untilNanos, List<InferenceQuery.ThreadStep> steps, List<Inferred> arrivals) {}

    /// What is new, in the order of event time.
    ///
    /// @param open opens the recording, without the events before a moment
    /// @param ended no more events will come, so that everything is settled
    List<Inferred> ask(LongFunction<Database> open, boolean ended) {
        long minute = knownUntilNanos == Long.MIN_VALUE ? Long.MIN_VALUE : knownUntilNanos - MINUTE_NANOS;
        Answer answer = answer(open, minute, ended);
        long begin = beginOfCutSteps(answer, ended);
        if (begin < minute) {
            answer = answer(open, begin, ended);
        }
        List<Inferred> told = new ArrayList<>(answer.arrivals());
        for (InferenceQuery.ThreadStep step : answer.steps()) {
            if (isNew(step, answer, ended)) {
                told.add(step.step());
                threads.put(id(step), new Told(step.step().endNanos(), Source.of(step.source())));
            }
        }
        told.sort(Comparator.comparingLong(Inferred::atNanos));
        knownUntilNanos = answer.untilNanos();
        return told;
    }

    private Answer answer(LongFunction<Database> open, long fromNanos, boolean ended) {
        try (Database database = open.apply(fromNanos)) {
            long last = database.query("SELECT coalesce(max(ts_ns), 0) AS last_ns FROM events").only().integer("last_ns");
            long until = ended ? Long.MAX_VALUE : Math.max(knownUntilNanos, last - WRITTEN_AFTER_NANOS);
            return new Answer(fromNanos, until, InferenceQuery.growingSteps(database),
                    InferenceQuery.growingArrivals(database, knownUntilNanos, until));
        }
    }

    /// From when on to ask again, where a new step may have begun before what was looked at: the first one of a thread
    /// begins with the first call that is seen.
    private long beginOfCutSteps(Answer answer, boolean ended) {
        long begin = Long.MAX_VALUE;
        for (InferenceQuery.ThreadStep step : answer.steps()) {
            Told before = threads.get(id(step));
            boolean mayBeCut = step.number() == 1 && Source.of(step.source()) == Source.OPTIMIZER;
            if (mayBeCut && isNew(step, answer, ended)) {
                begin = Math.min(begin, before == null ? Long.MIN_VALUE : before.endNanos() - MARGIN_NANOS);
            }
        }
        return begin;
    }

    private boolean isNew(InferenceQuery.ThreadStep step, Answer answer, boolean ended) {
        if (!ended && !(step.settled() && step.step().endNanos() <= answer.untilNanos())) {
            return false;
        }
        Source source = Source.of(step.source());
        @Nullable Told before = threads.get(id(step));
        return before == null
                ? source != Source.DATA_LOADER || step.count() > BATCHES_OF_A_LOOK || step.spanNanos() > LOOK_NANOS
                : step.step().startNanos() >= before.endNanos() && source.compareTo(before.source()) >= 0;
    }

    private static ThreadId id(InferenceQuery.ThreadStep step) {
        return new ThreadId(step.step().pid(), step.tid());
    }
}
