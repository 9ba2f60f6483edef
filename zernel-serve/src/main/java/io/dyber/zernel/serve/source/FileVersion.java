package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A file as it was when it was opened, to notice that it was replaced, cut or written to since.
record FileVersion(Path path, @Nullable Object key, long size, FileTime modified) {

    /// Empty where there is no such file.
    static Optional<FileVersion> of(Path path) {
        try {
            BasicFileAttributes file = Files.readAttributes(path, BasicFileAttributes.class);
            return Optional.of(new FileVersion(path, file.fileKey(), file.size(), file.lastModifiedTime()));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    boolean isStillThere() {
        return of(path).equals(Optional.of(this));
    }
}
