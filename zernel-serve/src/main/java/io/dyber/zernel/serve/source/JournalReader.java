package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.jspecify.annotations.Nullable;

/// Follows a journal that is still being written, with one Arrow reader for its whole life. The open file stays
/// readable after the recorder has deleted it.
final class JournalReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(20);

    private final FileChannel file;
    private final ArrowStreamReader reader;
    private @Nullable ArrowRows rows;

    /// @param finished whether nothing will be appended any more; asked at the end of the file
    JournalReader(Path journal, BufferAllocator allocator, BooleanSupplier finished) throws IOException {
        this.file = FileChannel.open(journal, StandardOpenOption.READ);
        this.reader = new ArrowStreamReader(new Follow(file, finished), allocator);
    }

    /// Waits for the next batch; empty at the end. A batch that was cut short by a crash is no batch.
    Optional<EventBatch> next() throws IOException {
        try {
            if (!reader.loadNextBatch()) {
                return Optional.empty();
            }
            if (rows == null) {
                rows = new ArrowRows(reader.getVectorSchemaRoot(), reader);
            }
        } catch (IOException | IllegalArgumentException e) {
            if (file.position() >= file.size()) {
                return Optional.empty();
            }
            throw new IOException("reading a journal: " + e.getMessage(), e);
        }
        EventBatch batch = new EventBatch(Math.max(1, rows.rows()));
        for (int row = 0; row < rows.rows(); row++) {
            rows.copy(row, batch, 0);
        }
        return Optional.of(batch.inTimeOrder());
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }

    /// A file without an end: a read at the end waits for more.
    private record Follow(FileChannel file, BooleanSupplier finished) implements ReadableByteChannel {
        @Override
        public int read(ByteBuffer buffer) throws IOException {
            while (true) {
                // Asked before reading: what was appended before the recorder moved on is then still read.
                boolean last = finished.getAsBoolean();
                int read = file.read(buffer);
                if (read > 0 || last) {
                    return read;
                }
                pause();
            }
        }

        private static void pause() throws IOException {
            try {
                Thread.sleep(POLL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }

        @Override
        public boolean isOpen() {
            return file.isOpen();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
