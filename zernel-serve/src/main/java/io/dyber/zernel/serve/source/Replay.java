package io.dyber.zernel.serve.source;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/// Plays a finished recording in event time: each event is handed out when as much time has passed since the start of
/// the replay as had passed since the first event, divided by the speed. When it loops, time moves on: the second
/// round starts where the first one ended.
public final class Replay implements EventSource {
    /// How finely the clock on the wall is followed: a batch holds no more of event time than this.
    private static final long TICK_NANOS = Duration.ofMillis(50).toNanos();

    private static final System.Logger LOG = System.getLogger(Replay.class.getName());

    private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_SILENCE_NANOS = Duration.ofHours(1).toNanos();

    private final Path path;
    private final Optional<FileVersion> version;
    private final Database database;
    private final boolean loop;
    private final Pacer pacer;
    private final BufferAllocator allocator = new RootAllocator();
    private final OptionalDouble overheadShare;
    private final Optional<Footer.Detail> detail;
    private final Facts facts;
    private long untilNanos = Long.MAX_VALUE;
    private final TimeWindows windows;
    private final Deque<EventBatch> ready = new ArrayDeque<>();

    private long tickEnd;
    private long lastNanos = EventBatch.NULL;
    private long silentNanos;
    private boolean released;
    private volatile long shiftNanos;
    private volatile boolean ended;
    private volatile boolean changed;

    /// What to play and how.
    ///
    /// @param loop start again at the end, for ever
    /// @param from where to begin; what lies before is applied without waiting, so that memory and counters are right
    /// @param to where to end
    public record Options(Speed speed, boolean loop, Optional<Moment> from, Optional<Moment> to) {
        /// All of it, once.
        public static Options at(Speed speed) {
            return new Options(speed, false, Optional.empty(), Optional.empty());
        }
    }

    /// Opens the recording at `path`.
    ///
    /// @throws RecordingException if it is missing, damaged or not a recording, or has nothing in the stretch asked for
    public Replay(Path path, Options options) throws IOException {
        this.path = path;
        this.loop = options.loop();
        this.version = FileVersion.of(path);
        this.database = Recordings.open(path.toString());
        this.overheadShare = readOverheadShare(database);
        this.detail = Footer.detail(database.recordings().getFirst().metadata());
        this.facts = Facts.of(database.recordings().getFirst().metadata());
        this.windows = new TimeWindows(database.connection(), allocator);
        long first = windows.firstNanos();
        this.tickEnd = first;
        this.pacer = new Pacer(options.speed(), first);
        try {
            options.from().ifPresent(from -> pacer.hurryTo(within("--from", from.eventNanos(first))));
            options.to().ifPresent(to -> endAt(within("--to", to.eventNanos(first))));
        } catch (RecordingException e) {
            close();
            throw e;
        }
    }

    private void endAt(long moment) {
        windows.endAt(moment);
        untilNanos = moment;
    }

    private long within(String option, long moment) {
        if (moment < windows.firstNanos() || moment > windows.lastNanos()) {
            throw new RecordingException(
                    "replaying '" + path + "': its events span %.1f s, and %s is not within"
                            .formatted((windows.lastNanos() - windows.firstNanos()) / 1e9, option),
                    "zernel-analyze info " + path + " says from when to when it goes");
        }
        return moment;
    }

    @Override
    public synchronized Optional<EventBatch> next() throws IOException, InterruptedException {
        while (!pacer.isStopped()) {
            OptionalLong jump = pacer.takeJump();
            if (jump.isPresent() && !changed && goTo(windows.firstNanos() + jump.getAsLong())) {
                return Optional.of(EventBatch.startOver());
            }
            if (ready.isEmpty() && !readMore()) {
                ended = true;
                return Optional.empty();
            }
            EventBatch batch = ready.element();
            if (isSilenceBefore(batch)) {
                if (pacer.await(silentNanos + SECOND_NANOS)) {
                    silentNanos += SECOND_NANOS;
                    return Optional.of(EventBatch.silentUntil(silentNanos));
                }
            } else if (pacer.await(batch.number(LongColumn.TS_NS, batch.rows() - 1))) {
                lastNanos = batch.number(LongColumn.TS_NS, batch.rows() - 1);
                silentNanos = lastNanos;
                return Optional.of(ready.removeFirst());
            }
        }
        ended = true;
        return Optional.empty();
    }

    /// Whether nothing happens for another second, which alerts want to know of; they forget after an hour.
    private boolean isSilenceBefore(EventBatch batch) {
        return lastNanos != EventBatch.NULL
                && batch.number(LongColumn.TS_NS, 0) - silentNanos > SECOND_NANOS
                && silentNanos - lastNanos < LONGEST_SILENCE_NANOS;
    }

    @Override
    public boolean awaitMore() throws InterruptedException {
        return pacer.awaitJump();
    }

    /// Hurries to a moment of the recording; true when that meant to start over.
    private boolean goTo(long moment) throws IOException {
        if (!ended && moment + shiftNanos >= pacer.nowNanos()) {
            pacer.hurryTo(moment + shiftNanos);
            return false;
        }
        ended = false;
        ready.clear();
        windows.rewind();
        shiftNanos = 0;
        tickEnd = windows.firstNanos();
        lastNanos = EventBatch.NULL;
        pacer.rewind(windows.firstNanos());
        pacer.hurryTo(moment);
        return true;
    }

    @Override
    public long nowNanos() {
        return Math.min(pacer.nowNanos(), windows.lastNanos() + shiftNanos);
    }

    @Override
    public SourceState state() {
        return new SourceState("replay", path.toString(), pacer.speed().toString(), ended, note());
    }

    private String note() {
        if (changed) {
            return "the recording was replaced or changed under the replay: serve it again";
        }
        if (windows.isEmpty()) {
            return "the recording has no events";
        }
        if (ended) {
            return "the replay has ended";
        }
        if (pacer.isPaused()) {
            return "paused";
        }
        return loop ? "round " + (shiftNanos / roundNanos() + 1) : "";
    }

    private long roundNanos() {
        return windows.lastNanos() - windows.firstNanos() + 1;
    }

    @Override
    public Optional<Recorded> recorded() {
        return Optional.of(new Recorded(path, false, untilNanos));
    }

    @Override
    public Optional<Playback> playback() {
        return windows.isEmpty() ? Optional.empty() : Optional.of(new Controls());
    }

    /// What [#playback] gives.
    private final class Controls implements Playback {
        @Override
        public void pause(boolean paused) {
            pacer.pause(paused);
        }

        @Override
        public void speed(Speed speed) {
            pacer.speed(speed);
        }

        @Override
        public void seek(long nanos) {
            pacer.jump(Math.clamp(nanos, 0, length()));
        }

        @Override
        public Status status() {
            long position = Math.clamp(nowNanos() - shiftNanos - windows.firstNanos(), 0, length());
            return new Status(windows.firstNanos() / 1e6, position / 1e9, length() / 1e9, pacer.speed().toString(),
                    pacer.isPaused(), loop, pacer.isHurrying() && !ended);
        }

        private long length() {
            return windows.lastNanos() - windows.firstNanos();
        }
    }

    @Override
    public OptionalDouble overheadShare() {
        return overheadShare;
    }

    @Override
    public Optional<Footer.Detail> detail() {
        return detail;
    }

    @Override
    public Facts facts() {
        return facts;
    }

    @Override
    public void close() {
        pacer.stop();
        release();
    }

    /// Waits for the thread in [#next], which leaves soon.
    private synchronized void release() {
        if (!released) {
            released = true;
            ended = true;
            ready.clear();
            closeWindows();
            database.close();
            allocator.close();
        }
    }

    private void closeWindows() {
        try {
            windows.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "closing a recording", e);
        }
    }

    private static OptionalDouble readOverheadShare(Database database) {
        Object share = database.query("SELECT max(share) AS share FROM overhead").only().value("share");
        return share instanceof Double known ? OptionalDouble.of(known) : OptionalDouble.empty();
    }

    /// Reads more into [#ready]; false at the end.
    private boolean readMore() throws IOException {
        try {
            changed = version.isPresent() && !version.get().isStillThere();
            Optional<EventBatch> batch = changed ? Optional.empty() : windows.next();
            if (batch.isEmpty() && loop && !changed && !windows.isEmpty()) {
                windows.rewind();
                long next = shiftNanos + roundNanos();
                shiftNanos = next;
                batch = windows.next();
            }
            batch.ifPresent(this::slice);
            return batch.isPresent();
        } catch (IOException e) {
            changed = version.isPresent() && !version.get().isStillThere();
            if (!changed) {
                throw e;
            }
            return false;
        }
    }

    /// Cuts a batch into parts that each lie within one tick.
    private void slice(EventBatch batch) {
        batch.shift(shiftNanos);
        int from = 0;
        for (int row = 0; row < batch.rows(); row++) {
            long start = batch.number(LongColumn.TS_NS, row);
            if (start >= tickEnd) {
                if (row > from) {
                    ready.addLast(batch.part(from, row));
                }
                from = row;
                tickEnd += ((start - tickEnd) / TICK_NANOS + 1) * TICK_NANOS;
            }
        }
        ready.addLast(batch.part(from, batch.rows()));
    }
}
