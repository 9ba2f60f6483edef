package io.dyber.zernel.record.host;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalLong;

/// A file of `/proc` or `/sys` that is read again and again through one descriptor: of a process, that of the process it
/// was opened for, also when its number has a new owner. Not thread-safe.
final class KernelFile implements AutoCloseable {
    private static final int USUAL = 4096;

    private final RandomAccessFile file;
    private byte[] buffer = new byte[USUAL];

    KernelFile(Path path) throws IOException {
        this.file = new RandomAccessFile(path.toFile(), "r");
    }

    /// What it says now.
    ///
    /// @throws IOException when the process has ended, or the device is gone
    String text() throws IOException {
        file.seek(0);
        int length = 0;
        for (int read = file.read(buffer); read > 0; read = file.read(buffer, length, buffer.length - length)) {
            length += read;
            if (length == buffer.length) {
                buffer = Arrays.copyOf(buffer, 2 * length);
            }
        }
        return new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
    }

    /// The number it says, if it says one.
    OptionalLong number() throws IOException {
        return number(text());
    }

    static OptionalLong number(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text.strip()));
        } catch (NumberFormatException _) {
            return OptionalLong.empty();
        }
    }

    /// The number behind a word, as `VmRSS:` or `nr_throttled`, if a line begins with it.
    static OptionalLong field(String text, String word) {
        int line = ("\n" + text).indexOf("\n" + word);
        if (line < 0) {
            return OptionalLong.empty();
        }
        int from = line + word.length();
        while (from < text.length() && (text.charAt(from) == ' ' || text.charAt(from) == '\t')) {
            from++;
        }
        int to = from;
        while (to < text.length() && Character.isDigit(text.charAt(to))) {
            to++;
        }
        return number(text.substring(from, to));
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException _) {
            // Nothing was written.
        }
    }
}
