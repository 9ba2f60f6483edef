package io.dyber.zernel.serve.source;

import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Path;

/// Opens the right kind of source for a path.
public final class Sources {
    private Sources() {}

    /// Follows the recording when it is being written, else replays it.
    ///
    /// @param options of a replay; a recording that is being written has its own time
    /// @throws RecordingException if there is no recording at `path`, or it cannot be read
    public static EventSource open(Path path, Replay.Options options) throws IOException {
        return LiveFolder.of(path).exists() ? new Tail(path) : new Replay(path, options);
    }
}
