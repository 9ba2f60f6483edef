package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.record.parquet.RowGroup;
import io.dyber.zernel.record.parquet.SegmentWriter;
import io.dyber.zernel.record.recording.OutputException.Reason;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/// The finished segments of a recording, each a Parquet file in the `.live` folder, encoded by a thread of its own.
///
/// At most one segment is being encoded; the thread that hands over the next waits for it.
final class Segments implements AutoCloseable {
    private static final String JOINED = "output.tmp";
    /// Of an event in a segment, before any was written.
    private static final double FIRST_ROW_BYTES = 10;

    private final ClaimedFolder folder;
    private final SegmentWriter writer;
    private final PartFiles files;
    private final ExecutorService encoder =
            Executors.newSingleThreadExecutor(Thread.ofPlatform().name("zernel-encoder").daemon().factory());
    private volatile Optional<Job> job = Optional.empty();
    private final AtomicLong bytes = new AtomicLong();
    private volatile double rowBytes = FIRST_ROW_BYTES;
    private int onlyInMemory;

    private record Job(RowGroup group, int number, Future<?> done) {}

    Segments(ClaimedFolder folder, SegmentWriter writer, PartFiles files) {
        this.folder = folder;
        this.writer = writer;
        this.files = files;
    }

    /// Bytes of the segments on disk.
    long bytes() {
        return bytes.get();
    }

    /// Events whose journal was given up for a segment that then could not be written either: they end with this process.
    int onlyInMemory() {
        return onlyInMemory;
    }

    /// What an event takes in the segments so far.
    double rowBytes() {
        return rowBytes;
    }

    /// Encodes the row group in the background, then deletes its journal and clears the row group. The one before
    /// must have been waited for.
    void encode(RowGroup group, int number) {
        Future<?> done =
                encoder.submit(
                        () -> files.withRoom(() -> {
                            write(group, number);
                            group.clear();
                            return group;
                        }));
        job = Optional.of(new Job(group, number, done));
    }

    /// Waits for the row group being encoded, on another thread than the one that hands them over.
    void settle() throws IOException {
        Optional<Job> now = job;
        if (now.isPresent()) {
            join(now.get().done());
        }
    }

    /// Waits for the row group being encoded. After an exception that one is still to be written.
    void await() throws IOException {
        if (job.isPresent()) {
            join(job.get().done());
            job = Optional.empty();
        }
    }

    /// Waits like [#await], but on a full disk sacrifices the journal to make room for the segment: the events are
    /// all in memory.
    void awaitAtAnyPrice() throws IOException {
        if (job.isEmpty()) {
            return;
        }
        Job last = job.get();
        try {
            join(last.done());
        } catch (IOException e) {
            if (OutputException.of("", e).reason() != Reason.NO_SPACE) {
                throw e;
            }
            folder.delete(LiveFolder.journalName(last.number()));
            onlyInMemory = last.group().rows();
            encode(last.group(), last.number());
            join(job.get().done());
            onlyInMemory = 0;
        }
        job = Optional.empty();
    }

    /// Writes one segment on the calling thread.
    void write(RowGroup group, int number) throws IOException {
        String temporary = LiveFolder.segmentName(number) + ".tmp";
        folder.delete(temporary);
        try (FileChannel channel = folder.create(temporary)) {
            writer.write(group, channel);
        } catch (IOException e) {
            folder.delete(temporary);
            throw e;
        }
        folder.rename(temporary, LiveFolder.segmentName(number));
        long size = folder.size(LiveFolder.segmentName(number));
        bytes.addAndGet(size);
        if (group.rows() > 0) {
            rowBytes = (double) size / group.rows();
        }
        folder.delete(LiveFolder.journalName(number));
    }

    /// What a joined file gets as footer, given the number of its events and the time of the last, 0 if there is none.
    interface FooterOf {
        Map<String, String> footer(long events, long lastStartNanos);
    }

    /// The output, finished.
    ///
    /// @param kept the name that the file which was in its place has now
    record Published(long events, long bytes, Optional<String> kept) {}

    /// The segments from one number to another that are there.
    static List<String> names(ClaimedFolder folder, int from, int to) throws IOException {
        List<String> names = new ArrayList<>();
        for (int number = from; number < to; number++) {
            if (folder.has(LiveFolder.segmentName(number))) {
                names.add(LiveFolder.segmentName(number));
            }
        }
        return names;
    }

    /// Deletes segments.
    static void forget(ClaimedFolder folder, int from, int to) throws IOException {
        for (String name : names(folder, from, to)) {
            folder.delete(name);
        }
    }

    /// Joins segments into a file beside the `.live` folder.
    static Published join(ClaimedFolder folder, List<String> segments, String target, FooterOf footerOf)
            throws IOException {
        folder.delete(JOINED);
        long events;
        long bytes;
        try (FileChannel out = folder.create(JOINED)) {
            Concatenation joined = new Concatenation(out);
            for (String name : segments) {
                try (FileChannel segment = folder.read(name)) {
                    joined.add(segment);
                }
            }
            joined.finish(footerOf.footer(joined.rows(), joined.largest("ts_ns")));
            out.force(true);
            events = joined.rows();
            bytes = out.size();
        } catch (IOException e) {
            folder.delete(JOINED);
            throw e;
        }
        return new Published(events, bytes, folder.publish(JOINED, target));
    }

    @Override
    public void close() {
        encoder.close();
        writer.close();
    }

    /// Waits, and throws what the work threw.
    static void join(Future<?> done) throws IOException {
        try {
            Object _ = done.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException io -> throw io;
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e);
            }
        }
    }
}
