package io.dyber.zernel.serve.source;

import io.dyber.zernel.format.JournalChannel;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.jspecify.annotations.Nullable;

/// Follows a journal that is still being written, with one Arrow reader for its whole life. The open file stays
/// readable after the recorder has deleted it.
final class JournalReader implements AutoCloseable {
    private final JournalChannel file;
    private final ArrowStreamReader reader;
    private @Nullable ArrowRows rows;

    /// @param finished whether nothing will be appended any more; asked at the end of the file
    JournalReader(Path journal, BufferAllocator allocator, BooleanSupplier finished) throws IOException {
        this.file = new JournalChannel(FileChannel.open(journal, StandardOpenOption.READ), finished);
        this.reader = new ArrowStreamReader(file, allocator);
    }

    /// Waits for the next batch; empty at the end. A batch that was cut short by a crash is no batch.
    Optional<EventBatch> next() throws IOException {
        try {
            if (!reader.loadNextBatch()) {
                return Optional.empty();
            }
            if (rows == null) {
                rows = new ArrowRows(reader.getVectorSchemaRoot(), reader, new StringCache());
            }
            return Optional.of(rows.read().inTimeOrder());
        } catch (IOException | RuntimeException e) { // Arrow throws all kinds at what is no schema
            if (rows == null && file.isAtEnd()) { // not even the schema was whole
                return Optional.empty();
            }
            throw new IOException("reading a journal: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
