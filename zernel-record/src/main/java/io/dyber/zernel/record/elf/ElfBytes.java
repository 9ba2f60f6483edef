package io.dyber.zernel.record.elf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// The bytes of an ELF file, read in pieces that are checked against the file's end. Little-endian.
///
/// Small pieces are copied; large ones are mapped, so that a 100 MB string table costs no heap.
final class ElfBytes implements AutoCloseable {
    private static final int COPY_LIMIT = 64 << 10;

    private final Path file;
    private final FileChannel channel;
    private final long size;

    ElfBytes(Path file) throws ElfException {
        this.file = file;
        if (!Files.isRegularFile(file)) {
            throw error(Files.exists(file) ? "it is not a regular file" : "no such file");
        }
        try {
            this.channel = FileChannel.open(file, StandardOpenOption.READ);
            this.size = channel.size();
        } catch (NoSuchFileException _) {
            throw error("no such file");
        } catch (AccessDeniedException _) {
            throw error("permission denied (EACCES)");
        } catch (IOException e) {
            throw error(String.valueOf(e.getMessage()));
        }
    }

    long size() {
        return size;
    }

    /// The `length` bytes from `offset` on; position 0, limit `length`.
    ///
    /// @param what names the piece in the message if the file ends before it does
    ByteBuffer slice(String what, long offset, long length) throws ElfException {
        if (offset < 0 || length < 0 || offset > size || length > size - offset) {
            throw error("its " + what + " lies beyond the end of the file (truncated?)");
        }
        if (length > Integer.MAX_VALUE) {
            throw error("its " + what + " is larger than 2 GiB");
        }
        try {
            return length <= COPY_LIMIT ? copy(what, offset, (int) length) : map(offset, length);
        } catch (IOException e) {
            throw error(String.valueOf(e.getMessage()));
        }
    }

    private ByteBuffer map(long offset, long length) throws IOException {
        return channel.map(FileChannel.MapMode.READ_ONLY, offset, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private ByteBuffer copy(String what, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, offset + bytes.position()) < 0) {
                throw error("its " + what + " lies beyond the end of the file (truncated?)");
            }
        }
        return bytes.flip();
    }

    ElfException error(String why) {
        return new ElfException(file, why);
    }

    /// Pieces that were handed out stay readable.
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // Nothing was written: there is nothing to lose.
        }
    }
}
