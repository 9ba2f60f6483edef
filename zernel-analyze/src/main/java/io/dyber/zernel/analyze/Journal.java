package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.duckdb.DuckDBConnection;

/// An Arrow IPC stream that may end in the middle of a batch: its complete batches are its content.
final class Journal extends ArrowStreamReader {
    private boolean truncated;

    private Journal(ReadableByteChannel channel, BufferAllocator allocator) {
        super(channel, allocator);
    }

    @Override
    public boolean loadNextBatch() throws IOException {
        if (truncated) {
            return false;
        }
        try {
            return super.loadNextBatch();
        } catch (IOException | IllegalArgumentException _) {
            // Arrow reports a cut inside a length prefix as an IllegalArgumentException.
            truncated = true;
            return false;
        }
    }

    /// Copies a journal into a new table.
    ///
    /// @return whether the end of the journal was incomplete
    static boolean load(Path path, String table, DuckDb duckDb) {
        String stream = table + "_stream";
        try (BufferAllocator allocator = new RootAllocator();
                FileChannel channel = FileChannel.open(path);
                Journal journal = new Journal(channel, allocator);
                ArrowArrayStream exported = ArrowArrayStream.allocateNew(allocator)) {
            Data.exportArrayStream(allocator, journal, exported);
            duckDb.connection().unwrap(DuckDBConnection.class).registerArrowStream(stream, exported);
            duckDb.execute("CREATE TABLE " + table + " AS SELECT * FROM " + stream);
            return journal.truncated;
        } catch (IOException | java.sql.SQLException e) {
            throw new RecordingException("reading '" + path + "': " + e.getMessage(), null, e);
        }
    }
}
