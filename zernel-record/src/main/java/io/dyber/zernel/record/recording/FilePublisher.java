package io.dyber.zernel.record.recording;

import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/// Parts of a recording on their way to files of their own, made one after the other by a thread of its own: joining a
/// large one takes as long as the disk needs.
///
/// One thread calls it.
final class FilePublisher implements AutoCloseable {
    private final ClaimedFolder folder;
    private final Segments segments;
    private final PartFiles files;
    private final Queue<PendingFile> waiting = new ConcurrentLinkedQueue<>();
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(Thread.ofPlatform().name("zernel-publisher").daemon().factory());
    private Future<?> last = thread.submit(() -> {});

    FilePublisher(ClaimedFolder folder, Segments segments, PartFiles files) {
        this.folder = folder;
        this.segments = segments;
        this.files = files;
    }

    /// A name for a file that begins at this time.
    String free(long epochNanos) throws IOException {
        Set<String> reserved = waiting.stream().map(PendingFile::file).collect(Collectors.toSet());
        return files.free(epochNanos, reserved);
    }

    /// Makes the file in the background, when the one before is there: the writer must not get ahead of the disk.
    void add(PendingFile part) throws IOException {
        await();
        files.withRoom(() -> {
            part.note(folder);
            return part;
        });
        waiting.add(part);
        last = thread.submit(this::publishAll);
    }

    /// Deletes segments when the files that were asked for before are there, which may need them.
    void forget(int from, int to) {
        last = thread.submit(() -> {
            boolean _ = publishAll();
            Segments.forget(folder, from, to);
            return to;
        });
    }

    /// Throws what ended the work, if something did.
    void check() throws IOException {
        if (last.isDone()) {
            Segments.join(last);
        }
    }

    /// Waits until all files are there. Tries again what could not be done before.
    void await() throws IOException {
        last = thread.submit(this::publishAll);
        Segments.join(last);
    }

    private boolean publishAll() throws IOException {
        while (!waiting.isEmpty()) {
            publish(waiting.element());
            waiting.remove();
        }
        return waiting.isEmpty();
    }

    private void publish(PendingFile part) throws IOException {
        segments.settle();
        files.withRoom(() -> {
            part.publish(folder, (rows, _) -> footer(part, rows));
            return part;
        });
        files.notice("wrote " + folder.output().resolveSibling(part.file()));
        files.prune();
    }

    private static Map<String, String> footer(PendingFile part, long rows) {
        if (rows != part.events()) {
            throw new IllegalStateException(part.file() + ": " + rows + " of " + part.events() + " events");
        }
        return part.footer();
    }

    @Override
    public void close() {
        thread.close();
    }
}
