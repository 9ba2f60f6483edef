package io.dyber.zernel.serve.mcp;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.format.RecordingException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The recordings that a server answers of, as they were when it started: those of one job, and perhaps an earlier one to
/// compare with. No statement can reach any other file.
public final class OpenedRecordings implements AutoCloseable {
    private final Database job;
    private final @Nullable String before;
    private final List<String> files;
    private @Nullable Diff diff;

    private OpenedRecordings(Database job, List<String> files, @Nullable String before) {
        this.job = job;
        this.files = files;
        this.before = before;
    }

    /// Opens them, and says now what is wrong with one.
    ///
    /// @param files recordings of one job: files, globs, `.live` folders
    /// @param before the job to compare with; null where there is none
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static OpenedRecordings open(List<String> files, @Nullable String before) {
        if (before != null) {
            // Says now what is wrong with it; it is opened with the others when they are compared.
            Recordings.open(before).close();
        }
        Database job = Recordings.openConfined(files);
        if (job.isOfDigests()) {
            job.close();
            throw new RecordingException(
                    "opening '" + files.getFirst() + "': agents are not served digests", "open the recordings that they are of");
        }
        return new OpenedRecordings(job, List.copyOf(files), before);
    }

    Database job() {
        return job;
    }

    /// What changed since the earlier job; empty where none was given.
    Optional<Diff> diff() {
        if (before != null && diff == null) {
            try (Database both = Recordings.compareConfined(List.of(before), files)) {
                diff = Diff.of(both);
            }
        }
        return Optional.ofNullable(diff);
    }

    @Override
    public void close() {
        job.close();
    }
}
