package io.dyber.zernel.record.simulate.machine;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.schema.Column;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Events of all simulated threads on their way to the recording, or to nowhere: the model also runs only to see how
/// long it takes.
public final class Timeline {
    /// The duration of an instant, and of what had not ended when the recording did.
    public static final long NONE = -1;

    /// Shorter waits are below the recorder's threshold.
    private static final long WAIT_THRESHOLD_NANOS = 50_000;

    /// -ETIMEDOUT.
    private static final long TIMED_OUT = -110;

    private final @Nullable RecordingFile file;
    private final StringDictionary texts;
    private final Batch batch;
    private final Map<String, Integer> columns = new HashMap<>();
    private final Map<String, Long> byKind = new TreeMap<>();
    private final boolean silent;
    private final long clockNanos;
    private long events;
    private long lastNanos;
    private long fromNanos = Long.MIN_VALUE;
    private long untilNanos = Long.MAX_VALUE;
    private boolean skipped;

    private Timeline(@Nullable RecordingFile file, List<Column> columns, StringDictionary texts, long clockNanos) {
        this.file = file;
        this.clockNanos = clockNanos;
        this.silent = file == null;
        this.texts = texts;
        this.batch = new Batch(columns, silent ? 1 : 1 << 14);
        for (Column column : columns) {
            this.columns.put(column.name(), this.columns.size());
        }
    }

    /// To a recording.
    ///
    /// @param clockNanos by which the machine's clock is ahead
    public static Timeline to(RecordingFile file, List<Column> columns, StringDictionary texts, long clockNanos) {
        return new Timeline(file, columns, texts, clockNanos);
    }

    /// Only counts.
    public static Timeline silent() {
        return new Timeline(null, List.of(), new StringDictionary(), 0);
    }

    /// Begins an event; the calls of [#with] that follow complete it.
    public Timeline event(String kind, String name, Actor actor, long start, long dur) {
        begin(kind, name, start, dur);
        return with("pid", actor.pid())
                .with("tid", actor.tid())
                .with("cpu", actor.cpu())
                .with("comm", actor.comm());
    }

    /// An event that belongs to no thread.
    public Timeline sample(String kind, String name, long at) {
        begin(kind, name, at, NONE);
        return this;
    }

    private void begin(String kind, String name, long start, long dur) {
        events++;
        skipped = start < fromNanos || start > untilNanos - Math.max(dur, 0);
        if (silent || skipped) {
            return;
        }
        if (batch.isFull()) {
            flush();
        }
        batch.addRow(texts.id(kind));
        with("kind", kind).with("name", name).with("ts_ns", start + clockNanos);
        if (dur != NONE) {
            with("dur_ns", dur);
        }
        long _ = byKind.merge(kind, 1L, Long::sum);
        lastNanos = Math.max(lastNanos, start + Math.max(dur, 0));
    }

    public Timeline with(String column, long value) {
        if (!silent && !skipped) {
            Integer index = columns.get(column);
            if (index != null) {
                batch.put(index, value);
            }
        }
        return this;
    }

    public Timeline with(String column, String text) {
        return silent || skipped ? this : with(column, texts.id(text));
    }

    public void process(Actor actor, String name, long at) {
        event("process", name, actor, at, NONE);
    }

    /// A read system call; returns when it ends.
    public long read(Actor actor, long fd, long bytes, String path, long start, long dur) {
        event("io", "read", actor, start, dur)
                .with("fd", fd)
                .with("bytes", bytes)
                .with("status", 0)
                .with("path", path)
                .with("miss_bytes", 0)
                .with("io_ns", 0);
        return start + dur;
    }

    /// A blocking system call, for which the thread leaves its CPU.
    public void wait(Actor actor, String call, String object, long start, long end) {
        if (end - start >= WAIT_THRESHOLD_NANOS) {
            event("wait", call, actor, start, end - start).with("object", object).with("status", 0);
            offCpu(actor, "sleeping", start + 2_000, end - 1_000, 3_000);
        }
    }

    /// A wait for another thread of the process, which ends it; null when its time is over.
    public void futex(Actor actor, long addr, @Nullable Actor waker, long start, long end) {
        if (end - start < WAIT_THRESHOLD_NANOS) {
            return;
        }
        event("wait", "futex", actor, start, end - start)
                .with("object", "futex")
                .with("addr", addr)
                .with("status", waker == null ? TIMED_OUT : 0);
        offCpu(actor, "sleeping", start + 2_000, end - 1_000, 3_000);
        if (waker != null) {
            with("waker_tid", waker.tid());
        }
    }

    /// A sleep, which a timer ends.
    public void sleep(Actor actor, long start, long end) {
        if (end - start >= WAIT_THRESHOLD_NANOS) {
            event("wait", "clock_nanosleep", actor, start, end - start).with("status", 0);
            offCpu(actor, "sleeping", start + 2_000, end - 1_000, 3_000);
        }
    }

    /// A thread off its CPU, the last `queued` of it ready to run.
    public void offCpu(Actor actor, String state, long start, long end, long queued) {
        if (end - start >= WAIT_THRESHOLD_NANOS) {
            event("sched", "off-cpu", actor, start, end - start)
                    .with("state", state)
                    .with("runq_ns", queued);
        }
    }

    /// Leaves out what begins before a time, or ends after another, by the right clock: a recording of a job that runs already, and
    /// goes on.
    public void only(long from, long until) {
        fromNanos = from;
        untilNanos = until;
    }

    /// From when on events are recorded, by the right clock.
    public long fromNanos() {
        return fromNanos;
    }

    /// Nothing happens until then.
    public void waitUntil(long nanos) {
        lastNanos = Math.max(lastNanos, nanos);
    }

    /// Writes the rest.
    public void finish() {
        flush();
    }

    public Map<String, Long> byKind() {
        return byKind;
    }

    public long events() {
        return events;
    }

    public boolean isSilent() {
        return silent;
    }

    /// When the last event ended, by the right clock.
    public long lastNanos() {
        return lastNanos;
    }

    private void flush() {
        if (file != null) {
            file.write(batch);
            batch.clear();
        }
    }
}
