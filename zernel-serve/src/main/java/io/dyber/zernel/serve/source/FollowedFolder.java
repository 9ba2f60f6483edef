package io.dyber.zernel.serve.source;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The newest recording in a folder, and then each one that begins there. Where none is being written, the newest
/// finished one is read first, so that there is something to see.
public final class FollowedFolder implements EventSource {
    private static final Duration POLL = Duration.ofMillis(200);

    private final Path folder;
    private boolean begun;
    private volatile @Nullable EventSource current;
    /// What became of the last recording, for people.
    private volatile String last = "";
    private volatile long reachedNanos;
    private volatile Facts lastFacts = Facts.NONE;
    private volatile boolean closed;

    /// @throws RecordingException if there is no such folder
    public FollowedFolder(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new RecordingException("following '" + folder + "': not a folder", "--follow takes a folder of recordings");
        }
        this.folder = folder;
    }

    @Override
    public Optional<EventBatch> next() throws IOException, InterruptedException {
        while (!closed) {
            EventSource source = current;
            if (source == null) {
                if (!openNext()) {
                    Thread.sleep(POLL);
                }
                continue;
            }
            Optional<EventBatch> batch = source.next();
            if (batch.isPresent()) {
                return batch;
            }
            last = source.state().path() + " has ended; ";
            reachedNanos = source.nowNanos();
            lastFacts = facts();
            source.close();
            current = null;
            return Optional.of(EventBatch.endOfRecording());
        }
        return Optional.empty();
    }

    private boolean openNext() throws IOException {
        Optional<Path> live = newest(path -> LiveFolder.hasName(path) && isAlive(new LiveFolder(path)));
        Optional<Path> finished =
                begun ? Optional.empty() : newest(path -> path.toString().endsWith(".parquet") && Files.isRegularFile(path));
        begun = true;
        if (live.isPresent()) {
            current = new Tail(live.get());
        } else if (finished.isPresent()) {
            current = replay(finished.get());
        }
        return current != null;
    }

    /// Null where the file cannot be read, which is no reason not to wait for better ones.
    private @Nullable EventSource replay(Path file) throws IOException {
        try {
            return new Replay(file, Replay.Options.at(Speed.MAX));
        } catch (RecordingException e) {
            last = e.getMessage() + "; ";
            return null;
        }
    }

    private static boolean isAlive(LiveFolder live) {
        return live.exists() && !live.isAbandoned();
    }

    private Optional<Path> newest(Predicate<Path> wanted) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(wanted).max(Comparator.comparing(FollowedFolder::modified));
        }
    }

    private static FileTime modified(Path path) {
        return FileVersion.of(path).map(FileVersion::modified).orElse(FileTime.fromMillis(0));
    }

    @Override
    public long nowNanos() {
        EventSource source = current;
        return source == null ? reachedNanos : source.nowNanos();
    }

    @Override
    public SourceState state() {
        EventSource source = current;
        if (source != null) {
            SourceState state = source.state();
            return new SourceState("follow", state.path(), "1x", false, state.note());
        }
        return new SourceState("follow", folder.toString(), "1x", closed,
                last + "waiting for a recording to begin in " + folder);
    }

    @Override
    public Optional<Recorded> recorded() {
        EventSource source = current;
        return source == null ? Optional.empty() : source.recorded();
    }

    @Override
    public Optional<EventSource> current() {
        return Optional.ofNullable(current);
    }

    @Override
    public Optional<Footer.Detail> detail() {
        EventSource source = current;
        return source == null ? Optional.empty() : source.detail();
    }

    /// Those of the last recording until the next one says something.
    @Override
    public Facts facts() {
        EventSource source = current;
        Facts said = source == null ? Facts.NONE : source.facts();
        return said.equals(Facts.NONE) ? lastFacts : said;
    }

    @Override
    public void close() {
        closed = true;
        EventSource source = current;
        if (source != null) {
            source.close();
        }
    }
}
