package io.dyber.zernel.serve.source;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingException;
import io.dyber.zernel.analyze.Recordings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/// Plays a finished recording in event time: each event is handed out when as much time has passed since the start of
/// the replay as had passed since the first event, divided by the speed. When it loops, time moves on: the second
/// round starts where the first one ended.
public final class Replay implements EventSource {
    /// How finely the clock on the wall is followed.
    private static final Duration TICK = Duration.ofMillis(100);

    private static final int ROWS_PER_BATCH = 8192;

    private final Path path;
    private final Database database;
    private final boolean loop;
    private final Pacer pacer;
    private final BufferAllocator allocator = new RootAllocator();
    private final OptionalDouble overheadShare;
    private final TimeWindows windows;
    private final Deque<EventBatch> ready = new ArrayDeque<>();
    private final long tickNanos;

    private long tickEnd;
    private long shiftNanos;
    private final AtomicInteger round = new AtomicInteger(1);
    private volatile boolean ended;

    /// Opens the recording at `path`.
    ///
    /// @throws RecordingException if it is missing, damaged or not a recording
    /// @param loop start again at the end, for ever
    public Replay(Path path, Speed speed, boolean loop) throws IOException {
        this.path = path;
        this.loop = loop;
        this.database = Recordings.open(path.toString());
        this.overheadShare = readOverheadShare(database);
        this.windows = new TimeWindows(database.connection(), allocator);
        this.tickNanos = speed.isMax() ? Long.MAX_VALUE / 4 : Math.max(1, (long) (TICK.toNanos() * speed.factor()));
        this.tickEnd = windows.firstNanos() + tickNanos;
        this.pacer = new Pacer(speed, windows.firstNanos());
    }

    @Override
    public Optional<EventBatch> next() throws IOException, InterruptedException {
        while (ready.isEmpty()) {
            if (pacer.isStopped() || !readMore()) {
                return end();
            }
        }
        EventBatch batch = ready.removeFirst();
        return pacer.await(batch.number(LongColumn.TS_NS, batch.rows() - 1)) ? Optional.of(batch) : end();
    }

    @Override
    public long nowNanos() {
        return Math.min(pacer.nowNanos(), windows.lastNanos() + shiftNanos);
    }

    @Override
    public SourceState state() {
        String note = "";
        if (windows.isEmpty()) {
            note = "the recording has no events";
        } else if (ended) {
            note = "the replay has ended";
        } else if (loop) {
            note = "round " + round.get();
        }
        return new SourceState("replay", path.toString(), pacer.speed().toString(), ended, note);
    }

    @Override
    public OptionalDouble overheadShare() {
        return overheadShare;
    }

    @Override
    public void close() {
        pacer.stop();
    }

    private static OptionalDouble readOverheadShare(Database database) {
        Object share = database.query("SELECT max(share) AS share FROM overhead").only().value("share");
        return share instanceof Double known ? OptionalDouble.of(known) : OptionalDouble.empty();
    }

    /// Reads the next window into [#ready]; false at the end.
    private boolean readMore() throws IOException {
        if (!windows.hasNext()) {
            if (!loop || windows.isEmpty()) {
                return false;
            }
            windows.rewind();
            round.incrementAndGet();
            shiftNanos += windows.lastNanos() - windows.firstNanos() + 1;
        }
        windows.readNext(this::slice);
        return true;
    }

    /// Cuts rows into batches that each lie within one tick of the wall clock.
    private void slice(ArrowRows rows) {
        for (int row = 0; row < rows.rows(); row++) {
            EventBatch last = ready.peekLast();
            long start = rows.tsNanos(row) + shiftNanos;
            if (last == null || last.rows() == ROWS_PER_BATCH || start >= tickEnd) {
                last = new EventBatch(64);
                ready.addLast(last);
                tickEnd += Math.max(0, (start - tickEnd) / tickNanos + 1) * tickNanos;
            }
            rows.copy(row, last, shiftNanos);
        }
    }

    private Optional<EventBatch> end() {
        if (!ended) {
            ended = true;
            ready.clear();
            database.close();
            allocator.close();
        }
        return Optional.empty();
    }
}
