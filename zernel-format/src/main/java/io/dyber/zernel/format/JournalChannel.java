package io.dyber.zernel.format;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// A journal as a stream for Arrow's reader, of messages that are whole and sound: what lies behind the first other one
/// is not handed out. Arrow's reader and DuckDB believe every length, offset and index that they are given.
public final class JournalChannel implements ReadableByteChannel {
    private final FileChannel file;
    private final JournalFile journal;
    private ByteBuffer message = ByteBuffer.allocate(0);

    /// Takes over the file.
    ///
    /// @param finished whether nothing will be appended any more; asked at the end of the file, which is waited at
    public JournalChannel(FileChannel file, BooleanSupplier finished) {
        this.file = file;
        this.journal = new JournalFile(file, finished);
    }

    /// Whether the file goes on behind what was handed out, with something that is no message.
    public boolean isDamaged() {
        return journal.isDamaged();
    }

    /// Whether nothing will be handed out any more.
    public boolean isAtEnd() {
        return journal.isEnded() && !message.hasRemaining();
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (!message.hasRemaining()) {
            Optional<JournalMessage> next = journal.next();
            if (next.isEmpty()) {
                return -1;
            }
            message = next.get().bytes();
        }
        int length = Math.min(target.remaining(), message.remaining());
        target.put(message.slice(message.position(), length));
        message.position(message.position() + length);
        return length;
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
