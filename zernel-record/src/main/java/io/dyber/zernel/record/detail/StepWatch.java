package io.dyber.zernel.record.detail;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// Tells steps from rows as they are recorded, by the rules of the view `steps` that need no look ahead: where calls or
/// regions of a thread have the role `step`, from one to the next; else from the end of an `Optimizer.step` to that of the
/// next one with a new batch between them; else from batch to batch. It belongs to the drain thread.
public final class StepWatch {
    private static final String OPTIMIZER = "Optimizer.step#";
    private static final String LOADER = "enumerate(DataLoader)#";
    private static final String ROLE = "zernel.step";
    /// So many threads with steps no recording has; then all is begun anew.
    private static final int MOST_THREADS = 10_000;

    /// What a row says of steps; of a thread the last that it has counts.
    private enum Source {
        NONE,
        LOADER,
        OPTIMIZER,
        ROLE
    }

    private final StringDictionary texts;
    private final List<Consumer<Step>> listeners = new ArrayList<>();
    private final int name;
    private final int role;
    private final int start;
    private final int duration;
    private final int tid;
    private final int region;
    private final int stepRole;
    private final Map<Integer, Source> sources = new HashMap<>();
    private final Map<Integer, Boundaries> threads = new HashMap<>();

    /// Of a thread.
    private static final class Boundaries {
        private Source source = Source.NONE;
        private long last;
        private boolean loads;
        private boolean loaded;
    }

    public StepWatch(Schema schema, StringDictionary texts) {
        this.texts = texts;
        this.name = schema.index("name");
        this.role = schema.index("role");
        this.start = schema.index("ts_ns");
        this.duration = schema.index("dur_ns");
        this.tid = schema.index("tid");
        this.region = texts.id("region");
        this.stepRole = texts.id("step");
    }

    /// Has this hear of each step when it has ended.
    public void listen(Consumer<Step> listener) {
        listeners.add(listener);
    }

    /// Looks at new rows.
    public void watch(Batch batch) {
        for (KindRows rows : batch.kinds()) {
            if (rows.kind() == region) {
                watchRegions(rows);
            } else if (rows.rows() > 0 && rows.has(role)) {
                watchRoles(rows);
            }
        }
    }

    private void watchRegions(KindRows rows) {
        for (int row = 0; row < rows.rows(); row++) {
            if (rows.isPresent(name, row) && rows.isPresent(duration, row)) {
                Source source = sources.computeIfAbsent((int) rows.values(name)[row], this::sourceOf);
                if (source != Source.NONE) {
                    note(rows, row, source);
                }
            }
        }
    }

    private Source sourceOf(int text) {
        String region = texts.text(text);
        return region.startsWith(OPTIMIZER) ? Source.OPTIMIZER
                : region.startsWith(LOADER) ? Source.LOADER
                : region.matches(ROLE + "([^a-z_].*)?") ? Source.ROLE : Source.NONE;
    }

    private void watchRoles(KindRows rows) {
        for (int row = 0; row < rows.rows(); row++) {
            if (rows.isPresent(role, row) && rows.values(role)[row] == stepRole) {
                note(rows, row, Source.ROLE);
            }
        }
    }

    private void note(KindRows rows, int row, Source source) {
        if (threads.size() > MOST_THREADS) {
            threads.clear();
        }
        int thread = (int) rows.values(tid)[row];
        Boundaries boundaries = threads.computeIfAbsent(thread, _ -> new Boundaries());
        long began = rows.values(start)[row];
        if (source == Source.LOADER) {
            boundaries.loads = true;
            boundaries.loaded = true;
        } else if (source == Source.OPTIMIZER) {
            boolean same = boundaries.loads && !boundaries.loaded;
            boolean around = boundaries.source == Source.OPTIMIZER && began < boundaries.last;
            if (same || around) {
                return;
            }
            boundaries.loaded = false;
        }
        long at = source == Source.ROLE ? began : began + rows.values(duration)[row];
        bound(boundaries, thread, source, at);
    }

    private void bound(Boundaries boundaries, int thread, Source source, long at) {
        if (source.compareTo(boundaries.source) < 0) {
            return;
        }
        if (source == boundaries.source && at > boundaries.last) {
            Step step = new Step(thread, boundaries.last, at);
            listeners.forEach(listener -> listener.accept(step));
        }
        boundaries.source = source;
        boundaries.last = at;
    }
}
