package io.dyber.zernel.format;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.arrow.flatbuf.Message;

/// A journal read message by message, up to the first one that is not whole or not sound: cut off, torn by a power loss,
/// damaged or forged. An Arrow IPC stream of one schema, then record batches and dictionaries of strings.
///
/// Three read journals in this way and go on differently. The analyzer hands the bytes to Arrow and DuckDB, which copy
/// columns as they are ([JournalChannel]). The server does too, while the journal grows, and takes a few columns of each
/// batch. `recover` makes rows of them without Arrow's vectors, as the recorder writes them, which would take 0.3 s to
/// load and need opened JDK packages.
public final class JournalFile {
    /// All VARCHAR columns share this dictionary.
    public static final int DICTIONARY_ID = 1;

    private static final Duration POLL = Duration.ofMillis(20);
    private static final int PREFIX = 8;
    private static final int CONTINUATION = -1;
    private static final int LARGEST_METADATA = 1 << 24;

    private final FileChannel file;
    private final BooleanSupplier finished;
    private final JournalCheck check = new JournalCheck();
    private long position;
    private boolean ended;
    private boolean damaged;

    /// A journal to which nothing is appended. The file stays the caller's to close.
    public JournalFile(FileChannel file) {
        this(file, () -> true);
    }

    /// A journal that may grow. The file stays the caller's to close.
    ///
    /// @param finished whether nothing will be appended any more; asked at the end of the file, which is waited at
    public JournalFile(FileChannel file, BooleanSupplier finished) {
        this.file = file;
        this.finished = finished;
    }

    /// The next message, waited for; empty at the end of what can be trusted.
    public Optional<JournalMessage> next() throws IOException {
        Optional<JournalMessage> message = ended ? Optional.empty() : read();
        ended = message.isEmpty();
        return message;
    }

    /// Whether there will be no more messages.
    public boolean isEnded() {
        return ended;
    }

    /// Whether the file goes on behind the last message, with something that is none.
    public boolean isDamaged() {
        return damaged;
    }

    private Optional<JournalMessage> read() throws IOException {
        if (!await(PREFIX)) {
            damaged = file.size() > position;
            return Optional.empty();
        }
        ByteBuffer prefix = bytes(PREFIX);
        int length = prefix.getInt(4);
        if (prefix.getInt(0) == CONTINUATION && length == 0) {
            return Optional.empty();
        }
        boolean begins = prefix.getInt(0) == CONTINUATION && length > 0 && length <= LARGEST_METADATA;
        Optional<JournalMessage> message = begins ? load(length) : Optional.empty();
        damaged = message.isEmpty();
        return message;
    }

    private Optional<JournalMessage> load(int metadataLength) throws IOException {
        int head = PREFIX + metadataLength;
        if (!await(head)) {
            return Optional.empty();
        }
        int body = JournalCheck.bodyLength(bytes(head).slice(PREFIX, metadataLength));
        if (body < 0 || !await(head + body)) {
            return Optional.empty();
        }
        ByteBuffer bytes = bytes(head + body);
        ByteBuffer metadata = bytes.slice(PREFIX, metadataLength).order(ByteOrder.LITTLE_ENDIAN);
        position += head + body;
        return check.checked(
                Message.getRootAsMessage(metadata), bytes.slice(head, body).order(ByteOrder.LITTLE_ENDIAN), bytes);
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
}
