package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.format.RecordingException;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Tells whether a query failed because a page of a recording is damaged.
///
/// What a decoder says of bytes that it cannot make sense of is no use to anybody, and there are as many such sentences as
/// encodings. So all pages are read once, after a failure that may be of this sort; whose pages cannot be read is damaged.
public final class DamagedPages {
    /// Errors of data, and not of the SQL.
    private static final Pattern OF_DATA = Pattern.compile("^(Invalid Input|IO|INTERNAL|Serialization|Invalid|Unknown|TProtocol\\w*)\\b");

    private final DuckDb duckDb;
    private final List<AttachedRecording> recordings;
    private boolean looked;
    private Optional<RecordingException> found = Optional.empty();

    public DamagedPages(DuckDb duckDb, List<AttachedRecording> recordings) {
        this.duckDb = duckDb;
        this.recordings = List.copyOf(recordings);
    }

    /// What is behind a failure: damage where there is some, else the failure itself.
    public RecordingException behind(RecordingException failure) {
        if (!(root(failure) instanceof SQLException e) || !OF_DATA.matcher(String.valueOf(e.getMessage())).find()) {
            return failure;
        }
        if (!looked) {
            looked = true;
            found = find();
        }
        return found.orElse(failure);
    }

    private static Throwable root(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause == null ? failure : root(cause);
    }

    private Optional<RecordingException> find() {
        for (AttachedRecording recording : recordings) {
            for (AttachedRecording.Relation relation : recording.relations()) {
                try {
                    Table _ = duckDb.query("SELECT bit_xor(hash(events)) FROM " + relation.sql() + " AS events");
                } catch (RecordingException e) {
                    String why = root(e) instanceof SQLException sql ? DuckDb.firstLine(sql) : String.valueOf(e.getMessage());
                    return Optional.of(new RecordingException(
                            "reading '" + recording.recording().path() + "': damaged: " + why, ParquetRecording.COPY_AGAIN, e));
                }
            }
        }
        return Optional.empty();
    }
}
