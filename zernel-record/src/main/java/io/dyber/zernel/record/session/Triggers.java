package io.dyber.zernel.record.session;

import io.dyber.zernel.record.detail.Step;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.option.Trigger;
import io.dyber.zernel.record.schema.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/// Watches the rows that are recorded for what a flight recorder is to write its file for. The drain thread [#watch]es,
/// the recording's thread [#take]s.
final class Triggers {
    private static final int STEPS = 100;
    /// The first steps of a training are slow: they compile, allocate and fill caches.
    private static final int FIRST_STEPS = 10;

    /// What fired.
    ///
    /// @param text what the user asked for and what was found
    /// @param nanos since the epoch, the end of the row
    record Fired(String text, long nanos) {}

    private final List<Trigger.SlowStep> slowSteps = new ArrayList<>();
    private final Map<Integer, Trigger.LongEvent> longEvents = new HashMap<>();
    private final int kind;
    private final int name;
    private final int start;
    private final int duration;
    private final Map<Integer, Steps> threads = new HashMap<>();
    private final AtomicReference<Optional<Fired>> fired = new AtomicReference<>(Optional.empty());

    Triggers(List<Trigger> triggers, Schema schema, StringDictionary texts) {
        this.kind = schema.index("kind");
        this.name = schema.index("name");
        this.start = schema.index("ts_ns");
        this.duration = schema.index("dur_ns");
        for (Trigger trigger : triggers) {
            switch (trigger) {
                case Trigger.SlowStep step -> slowSteps.add(step);
                case Trigger.LongEvent event -> longEvents.merge(
                        texts.id(event.name()), event, (a, b) -> a.nanos() < b.nanos() ? a : b);
            }
        }
    }

    /// Looks at new rows.
    void watch(Batch batch) {
        for (int row = 0; !longEvents.isEmpty() && row < batch.rows(); row++) {
            if (!batch.isNull(duration, row)) {
                watchLong(batch, row, kind);
                watchLong(batch, row, name);
            }
        }
    }

    private void watchLong(Batch batch, int row, int column) {
        if (batch.isNull(column, row)) {
            return;
        }
        Trigger.LongEvent event = longEvents.get((int) batch.value(column, row));
        if (event != null && batch.value(duration, row) > event.nanos()) {
            fire(event.text() + ": " + millis(batch.value(duration, row)) + " ms", end(batch, row));
        }
    }

    /// Looks at a step that has ended.
    void watch(Step ended) {
        if (slowSteps.isEmpty()) {
            return;
        }
        Steps steps = threads.computeIfAbsent(ended.tid(), _ -> new Steps());
        long median = steps.median();
        steps.add(ended.nanos());
        for (Trigger.SlowStep step : slowSteps) {
            if (median > 0 && ended.nanos() > step.factor() * median) {
                fire(step.text() + ": " + millis(ended.nanos()) + " ms, median " + millis(median) + " ms", ended.endNanos());
            }
        }
    }

    private long end(Batch batch, int row) {
        return batch.value(start, row) + batch.value(duration, row);
    }

    private static long millis(long nanos) {
        return Math.round(nanos / 1e6);
    }

    private void fire(String text, long nanos) {
        fired.compareAndSet(Optional.empty(), Optional.of(new Fired(text, nanos)));
    }

    /// What fired first since the last call of this.
    Optional<Fired> take() {
        return fired.getAndSet(Optional.empty());
    }

    /// The last steps of a thread.
    private static final class Steps {
        private final long[] lengths = new long[STEPS];
        private int count;

        /// Of the steps so far, 0 while they are too few.
        long median() {
            int size = Math.min(count, STEPS);
            if (count < FIRST_STEPS) {
                return 0;
            }
            long[] sorted = Arrays.copyOf(lengths, size);
            Arrays.sort(sorted);
            return sorted[size / 2];
        }

        void add(long length) {
            lengths[count++ % STEPS] = length;
        }
    }
}
