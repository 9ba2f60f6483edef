package io.dyber.zernel.analyze.export;

import io.dyber.zernel.format.RecordingException;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.GZIPOutputStream;

/// A file that appears under its name only when it is whole; `-` is standard output.
///
/// Until then it has a temporary name beside it, which [#close] removes, or the end of a program that is stopped.
public final class OutputFile implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 16;

    private final Path file;
    private final Path temporary;
    private final boolean standardOutput;

    /// @param overwrite whether the file may exist
    /// @throws RecordingException if it exists, or its folder does not
    public OutputFile(String name, boolean overwrite) {
        this.file = Path.of(name);
        this.standardOutput = name.equals("-");
        if (!standardOutput && Files.exists(file) && !overwrite) {
            throw new RecordingException("writing '" + name + "': it exists already", "-f overwrites it");
        }
        Path folder = file.toAbsolutePath().getParent();
        if (!standardOutput && (folder == null || !Files.isDirectory(folder))) {
            throw new RecordingException("writing '" + name + "': there is no folder '" + folder + "'", null);
        }
        this.temporary = standardOutput
                ? Path.of("/dev/stdout")
                : file.resolveSibling("." + file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        if (!standardOutput) {
            temporary.toFile().deleteOnExit();
        }
    }

    /// What to write to.
    public Path path() {
        return temporary;
    }

    /// A stream to it, which compresses when the name ends in `.gz`.
    public OutputStream open() throws IOException {
        OutputStream out = standardOutput
                ? new FileOutputStream(FileDescriptor.out)
                : Files.newOutputStream(temporary);
        return file.toString().endsWith(".gz")
                ? new BufferedOutputStream(new GZIPOutputStream(out, BUFFER_BYTES), BUFFER_BYTES)
                : new BufferedOutputStream(out, BUFFER_BYTES);
    }

    /// Bytes written so far; 0 on standard output.
    public long size() {
        try {
            return !standardOutput && Files.exists(temporary) ? Files.size(temporary) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Gives the file its name.
    public void commit() throws IOException {
        if (!standardOutput) {
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Override
    public void close() throws IOException {
        if (!standardOutput) {
            Files.deleteIfExists(temporary);
        }
    }
}
