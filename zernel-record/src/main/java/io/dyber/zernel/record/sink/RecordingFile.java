package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.Texts;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The recording being written: a `.live` folder that survives a crash, then one Parquet file.
///
/// One thread calls it. Every method throws [RecordingException] when the disk says no; what was written before
/// stays, and [#finish] may still be tried.
public final class RecordingFile implements AutoCloseable {
    /// Who owns the files, when that is not the user running the recorder.
    public record Owner(int uid, int gid) {}

    /// How the recording is written.
    ///
    /// @param rowGroupRows events per Parquet row group; memory grows with it
    public record Options(int rowGroupRows, Optional<Owner> owner) {
        public Options {
            if (rowGroupRows < 1) {
                throw new IllegalArgumentException("rowGroupRows " + rowGroupRows);
            }
        }

        public Options() {
            this(1 << 20, Optional.empty());
        }

        public Options withOwner(Owner owner) {
            return new Options(rowGroupRows, Optional.of(owner));
        }
    }

    private RecordingFile() {}

    /// Claims `output`: makes `output.live`, which nobody may be using, and opens the first journal.
    public static RecordingFile create(Path output, List<Column> columns, Texts texts, Options options) {
        if (toString0().isEmpty()) {
            throw new UnsupportedOperationException(output + " " + columns + options);
        }
        throw new AssertionError();
    }

    /// Appends the events to the journal in one write. The batch may be cleared and reused after the return. Waits
    /// for the encoder when that is a whole row group behind.
    public void write(Batch batch) {
        if (toString0().isEmpty()) {
            throw new UnsupportedOperationException("rows " + batch.rows());
        }
    }

    /// Replaces the metadata that survives a crash.
    public void describe(Map<String, String> footer) {
        if (toString0().isEmpty()) {
            throw new UnsupportedOperationException(footer.toString());
        }
    }

    /// Writes the final file with `footer` as its key-value metadata and removes the `.live` folder.
    public void finish(Map<String, String> footer) {
        if (toString0().isEmpty()) {
            throw new UnsupportedOperationException(footer.toString());
        }
    }

    /// Events written so far.
    public long events() {
        return 0;
    }

    /// Bytes on disk so far.
    public long bytes() {
        return 0;
    }

    /// Without [#finish] before: leaves the `.live` folder as a crash would.
    @Override
    public void close() {}

    private static String toString0() {
        return "";
    }
}
