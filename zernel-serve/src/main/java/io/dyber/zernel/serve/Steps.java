package io.dyber.zernel.serve;

import io.dyber.zernel.serve.StepPhases.Call;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Finds training steps in the stream of events. A step ends when `Optimizer.step` returns and begins where the one
/// before ended; optimizer steps with no new batch between them are one step, so a step is known when the next batch
/// is asked for. A thread that reads many batches and has no optimizer gets one step per batch. The same rules as the
/// analyzer's view `steps`.
///
/// Not thread-safe.
final class Steps {
    private static final int THREADS = 256;
    private static final int CALLS = 8192;
    private static final int BATCHES_WITHOUT_OPTIMIZER = 32;
    private static final long NEVER = Long.MIN_VALUE;

    private final Listener listener;
    private final Map<Long, Trainer> trainers = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Trainer> eldest) {
            return size() > THREADS;
        }
    };

    /// Told about each step.
    interface Listener {
        /// A step has ended.
        ///
        /// @param phaseNanos of every phase, adding up to the step
        void step(long pid, long startNanos, long endNanos, Map<Phase, Long> phaseNanos);
    }

    /// A thread whose calls say that it may be training.
    private static final class Trainer {
        final long pid;
        final List<Call> calls = new ArrayList<>();
        long stepStart;
        long optimizerEnd = NEVER;
        int batches;
        boolean hasOptimizer;

        Trainer(long pid, long start) {
            this.pid = pid;
            this.stepStart = start;
        }
    }

    Steps(Listener listener) {
        this.listener = listener;
    }

    void accept(EventBatch batch, int row) {
        Part part = Part.of(batch, row).orElse(null);
        long duration = batch.number(LongColumn.DUR_NS, row);
        long tid = batch.number(LongColumn.TID, row);
        if (part == null || duration == EventBatch.NULL || tid == EventBatch.NULL) {
            return;
        }
        long start = batch.number(LongColumn.TS_NS, row);
        Trainer trainer =
                trainers.computeIfAbsent(tid, _ -> new Trainer(batch.number(LongColumn.PID, row, tid), start));
        Call call = new Call(part, start, start + duration);
        if (part == Part.DATA_WAIT) {
            nextBatch(trainer, call);
        }
        add(trainer, call);
        if (part == Part.OPTIMIZER_STEP) {
            trainer.hasOptimizer = true;
            trainer.optimizerEnd = Math.max(trainer.optimizerEnd, call.end());
            if (trainer.batches == 0) {
                endStep(trainer, trainer.optimizerEnd);
            }
        }
    }

    /// No more events will come: the steps whose end nobody could know yet have ended.
    void finish() {
        trainers.values().forEach(trainer -> {
            if (trainer.optimizerEnd != NEVER) {
                endStep(trainer, trainer.optimizerEnd);
            }
        });
    }

    private void nextBatch(Trainer trainer, Call call) {
        trainer.batches++;
        if (trainer.optimizerEnd != NEVER && trainer.optimizerEnd <= call.start()) {
            endStep(trainer, trainer.optimizerEnd);
        } else if (!trainer.hasOptimizer && trainer.batches > BATCHES_WITHOUT_OPTIMIZER) {
            endStep(trainer, call.start());
        } else if (!trainer.hasOptimizer && trainer.batches == BATCHES_WITHOUT_OPTIMIZER) {
            trainer.stepStart = call.start();
        }
    }

    private static void add(Trainer trainer, Call call) {
        if (trainer.calls.size() == CALLS) {
            trainer.calls.subList(0, CALLS / 2).clear();
        }
        trainer.calls.add(call);
    }

    private void endStep(Trainer trainer, long end) {
        long start = Math.min(trainer.stepStart, end);
        listener.step(trainer.pid, start, end, StepPhases.of(start, end, trainer.calls, trainer.batches > 0));
        trainer.calls.removeIf(call -> call.end() <= end);
        trainer.stepStart = end;
        trainer.optimizerEnd = NEVER;
    }
}
