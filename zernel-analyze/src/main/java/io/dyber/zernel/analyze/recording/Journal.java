package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.JournalChannel;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.duckdb.DuckDBConnection;

/// The events that a recorder has written since its last row group, copied into a table of DuckDB: what asks about them
/// reads columns often, and the journal may be deleted meanwhile.
final class Journal {
    /// How much of a journal there is.
    enum Extent {
        WHOLE,
        /// Its end is incomplete.
        CUT,
        /// Not even its beginning is whole, so there is no table.
        NOTHING
    }

    private Journal() {}

    /// Copies the events of a journal that began at `fromNanos` or later into a new table.
    static Extent load(Path path, String table, DuckDb duckDb, long fromNanos) {
        String stream = table + "_stream";
        try (BufferAllocator allocator = new RootAllocator();
                JournalChannel channel = new JournalChannel(FileChannel.open(path), () -> true);
                ArrowStreamReader journal = new ArrowStreamReader(channel, allocator);
                ArrowArrayStream exported = ArrowArrayStream.allocateNew(allocator)) {
            if (!hasSchema(journal, channel)) {
                return Extent.NOTHING;
            }
            Data.exportArrayStream(allocator, journal, exported);
            duckDb.connection().unwrap(DuckDBConnection.class).registerArrowStream(stream, exported);
            duckDb.execute("CREATE TABLE " + table + " AS SELECT * FROM " + stream
                    + (fromNanos == DatabaseOptions.ALL ? "" : " WHERE ts_ns >= " + fromNanos));
            return channel.isDamaged() ? Extent.CUT : Extent.WHOLE;
        } catch (IOException | java.sql.SQLException e) {
            throw new RecordingException("reading '" + path + "': " + e.getMessage(), null, e);
        }
    }

    private static boolean hasSchema(ArrowStreamReader journal, JournalChannel channel) throws IOException {
        try {
            return !journal.getVectorSchemaRoot().getFieldVectors().isEmpty();
        } catch (IOException e) {
            if (channel.isAtEnd()) {
                return false;
            }
            throw e;
        }
    }
}
