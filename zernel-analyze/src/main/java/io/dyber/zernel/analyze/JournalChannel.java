package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// A journal as a stream for Arrow's reader, of messages that are whole and sound: what lies behind the first other one
/// is not handed out. Arrow's reader and DuckDB believe every length, offset and index that they are given.
public final class JournalChannel implements ReadableByteChannel {
    private static final Duration POLL = Duration.ofMillis(20);
    private static final int PREFIX = 8;
    private static final int CONTINUATION = -1;
    private static final int LARGEST_METADATA = 1 << 24;

    private final FileChannel file;
    private final BooleanSupplier finished;
    private final JournalCheck check = new JournalCheck();
    private ByteBuffer message = ByteBuffer.allocate(0);
    private long position;
    private boolean ended;
    private boolean damaged;

    /// Takes over the file.
    ///
    /// @param finished whether nothing will be appended any more; asked at the end of the file, which is waited at
    public JournalChannel(FileChannel file, BooleanSupplier finished) {
        this.file = file;
        this.finished = finished;
    }

    /// Whether the file goes on behind what was handed out, with something that is no message.
    public boolean isDamaged() {
        return damaged;
    }

    /// Whether nothing will be handed out any more.
    public boolean isAtEnd() {
        return ended && !message.hasRemaining();
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (!message.hasRemaining()) {
            if (ended || !next()) {
                ended = true;
                return -1;
            }
        }
        int length = Math.min(target.remaining(), message.remaining());
        target.put(message.slice(message.position(), length));
        message.position(message.position() + length);
        return length;
    }

    /// Reads the next message into memory; false at the end of what can be trusted.
    private boolean next() throws IOException {
        if (!await(PREFIX)) {
            damaged = file.size() > position;
            return false;
        }
        ByteBuffer prefix = bytes(PREFIX);
        int length = prefix.getInt(4);
        if (prefix.getInt(0) == CONTINUATION && length == 0) {
            message = prefix;
            position += PREFIX;
            ended = true;
            return true;
        }
        damaged = prefix.getInt(0) != CONTINUATION || length < 0 || length > LARGEST_METADATA || !load(length);
        position += message.remaining();
        return !damaged;
    }

    private boolean load(int metadataLength) throws IOException {
        if (!await(PREFIX + metadataLength)) {
            return false;
        }
        int head = PREFIX + metadataLength;
        int body = JournalCheck.bodyLength(bytes(head).slice(PREFIX, metadataLength));
        if (body < 0 || !await(head + body)) {
            return false;
        }
        message = bytes(head + body);
        ByteBuffer metadata = message.slice(PREFIX, metadataLength).order(ByteOrder.LITTLE_ENDIAN);
        return check.isSound(metadata, message.slice(head, body).order(ByteOrder.LITTLE_ENDIAN));
    }

    /// Waits until the file has so many bytes more; false when it will not.
    private boolean await(int length) throws IOException {
        while (true) {
            // Asked before looking: what was appended before the recorder moved on is then still seen.
            boolean last = finished.getAsBoolean();
            if (file.size() - position >= length) {
                return true;
            }
            if (last) {
                return false;
            }
            pause();
        }
    }

    private ByteBuffer bytes(int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            if (file.read(bytes, position + bytes.position()) < 0) {
                throw new IOException("the journal became shorter");
            }
        }
        return bytes.flip();
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
