package io.dyber.zernel.serve.source;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.jspecify.annotations.Nullable;

/// Follows a recording that is still being written: what it already holds as fast as possible, then each batch as
/// the recorder writes it. Ends when the recorder has finished and removed its folder.
public final class Tail implements EventSource {
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private final LiveFolder folder;
    private final Optional<Object> folderKey;
    private final LiveDescription description;
    private final BufferAllocator allocator = new RootAllocator();
    private @Nullable Database segment;
    private @Nullable TimeWindows segmentWindows;
    private @Nullable JournalReader journal;
    private int number;
    private volatile Heard heard = new Heard(wallNanos(), System.nanoTime());
    private volatile boolean missed;
    private volatile String why = "stopped";
    private volatile boolean closed;
    private volatile boolean ended;

    /// The last event that came, and when it did. The clock on the wall would do as long as nobody sets it.
    private record Heard(long eventNanos, long atNanos) {}

    /// Follows the recording at `path`: `run.parquet`, or its folder `run.parquet.live`.
    public Tail(Path path) throws IOException {
        this.folder = LiveFolder.of(path);
        if (!folder.exists()) {
            throw new NoSuchFileException(folder.path().toString());
        }
        this.folderKey = folder.key();
        this.description = new LiveDescription(folder.description());
    }

    @Override
    public Optional<EventBatch> next() throws IOException, InterruptedException {
        try {
            Optional<EventBatch> batch = await();
            return batch.isPresent() ? batch : end();
        } catch (IOException | RecordingException e) {
            if (isSameFolder()) {
                throw e;
            }
            why = "it ended before all of it was read: serve " + folder.output();
            return end();
        }
    }

    /// The next batch; empty when there will be none.
    private Optional<EventBatch> await() throws IOException, InterruptedException {
        while (!closed) {
            Optional<EventBatch> batch = advance();
            if (batch.isPresent()) {
                heard(batch.get());
                return batch;
            }
            if (journal == null && segmentWindows == null && !openNext()) {
                if (isEnded()) {
                    return Optional.empty();
                }
                Thread.sleep(POLL);
            }
        }
        return Optional.empty();
    }

    private void heard(EventBatch batch) {
        if (batch.rows() > 0) {
            heard = new Heard(batch.number(LongColumn.TS_NS, batch.rows() - 1), System.nanoTime());
        }
    }

    /// Another recorder may have begun under the same name.
    private boolean isSameFolder() {
        return folder.key().equals(folderKey);
    }

    private boolean isEnded() {
        if (!isSameFolder()) {
            why = "the recording has ended: " + folder.output();
            return true;
        }
        if (isAbandoned()) {
            why = "the recorder died; zernel-record recover " + folder.output() + " makes a file of what it left";
            return true;
        }
        return false;
    }

    /// Asked only after a silence: a recorder that is just starting does not have its lock yet.
    private boolean isAbandoned() {
        return silent().compareTo(SILENCE) >= 0 && folder.isAbandoned();
    }

    private Duration silent() {
        return Duration.ofNanos(System.nanoTime() - heard.atNanos());
    }

    private static long wallNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    @Override
    public long nowNanos() {
        Heard last = heard;
        return last.eventNanos() + (ended ? 0 : System.nanoTime() - last.atNanos());
    }

    @Override
    public Optional<Recorded> recorded() {
        if (isSameFolder()) {
            return Optional.of(new Recorded(folder.path(), true));
        }
        return Files.exists(folder.output()) ? Optional.of(new Recorded(folder.output(), false)) : Optional.empty();
    }

    @Override
    public SourceState state() {
        return new SourceState("tail", folder.output().toString(), "1x", ended, note());
    }

    @Override
    public void close() {
        closed = true;
    }

    private String note() {
        if (ended) {
            return why;
        }
        return (silent().compareTo(SILENCE) < 0 ? "" : "nothing written for " + silent().toSeconds() + " s")
                + (missed ? "; events from before were moved to a file of their own before they were read" : "");
    }

    @Override
    public Optional<Footer.Detail> detail() {
        return description.detail();
    }

    @Override
    public Facts facts() {
        return description.facts();
    }

    /// The next batch of what is open; empty when that is used up, which closes it.
    private Optional<EventBatch> advance() throws IOException {
        if (journal != null) {
            Optional<EventBatch> batch = journal.next();
            if (batch.isEmpty()) {
                journal.close();
                journal = null;
                number++;
            }
            return batch;
        }
        if (segmentWindows != null) {
            Optional<EventBatch> batch = readSegment(segmentWindows);
            if (batch.isEmpty()) {
                closeSegment();
                number++;
            }
            return batch;
        }
        return Optional.empty();
    }

    /// Empty at its end, and when the recorder has taken the row group away: into a file of a series that was full.
    private Optional<EventBatch> readSegment(TimeWindows windows) throws IOException {
        try {
            return windows.next();
        } catch (IOException e) {
            if (Files.exists(folder.segment(number)) || !isSameFolder()) {
                throw e;
            }
            missed = true;
            return Optional.empty();
        }
    }

    /// Opens the next row group: its Parquet file where that is finished, else its journal. False when there is
    /// neither yet.
    private boolean openNext() throws IOException {
        try {
            Optional<LiveFolder.RowGroup> next =
                    folder.rowGroups().stream().filter(group -> group.number() >= number).findFirst();
            if (next.isEmpty()) {
                return false;
            }
            number = next.get().number();
            if (next.get().finished()) {
                segment = Recordings.open(folder.segment(number).toString());
                segmentWindows = new TimeWindows(segment.connection(), allocator);
            } else {
                int open = number;
                journal = new JournalReader(folder.journal(open), allocator, () -> isOver(open));
            }
            return true;
        } catch (NoSuchFileException _) {
            return false;
        } catch (RecordingException e) {
            if (!isSameFolder() || !Files.exists(folder.segment(number))) {
                return false;
            }
            throw e;
        }
    }

    /// Whether the recorder has left this journal behind.
    private boolean isOver(int open) {
        return closed
                || Files.exists(folder.journal(open + 1))
                || Files.exists(folder.segment(open))
                || !Files.exists(folder.journal(open))
                || !isSameFolder()
                || isAbandoned();
    }

    private Optional<EventBatch> end() throws IOException {
        if (!ended) {
            ended = true;
            closeSegment();
            if (journal != null) {
                journal.close();
                journal = null;
            }
            allocator.close();
        }
        return Optional.empty();
    }

    private void closeSegment() throws IOException {
        if (segmentWindows != null) {
            segmentWindows.close();
        }
        if (segment != null) {
            segment.close();
        }
        segment = null;
        segmentWindows = null;
    }
}
