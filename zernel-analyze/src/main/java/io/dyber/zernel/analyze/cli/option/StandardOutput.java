package io.dyber.zernel.analyze.cli.option;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Standard output that remembers what went wrong, which a [PrintWriter] keeps to itself. In UTF-8, whatever the locale.
public final class StandardOutput extends OutputStream {
    private final OutputStream out;
    private Optional<IOException> failure = Optional.empty();

    public StandardOutput() {
        this(new FileOutputStream(FileDescriptor.out));
    }

    public StandardOutput(OutputStream out) {
        this.out = out;
    }

    public PrintWriter writer() {
        return new PrintWriter(this, false, StandardCharsets.UTF_8);
    }

    /// Why output is missing. That a reader such as `head` has enough is no reason.
    public Optional<String> problem() {
        return failure.map(e -> String.valueOf(e.getMessage())).filter(message -> !isReadersEnd(message));
    }

    /// Whether an error says that the reader of our output has ended.
    public static boolean isReadersEnd(String message) {
        return message.contains("Broken pipe");
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        try {
            out.write(bytes, from, length);
        } catch (IOException e) {
            failure = failure.or(() -> Optional.of(e));
            throw e;
        }
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }
}
