package io.dyber.zernel.record.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// Files that are read in every round. Those that were not read for a round are closed; one that is missing is looked for
/// again in each.
final class KernelFiles implements AutoCloseable {
    private final Map<Path, KernelFile> open = new HashMap<>();
    private final Set<Path> used = new HashSet<>();

    /// What a file says, nothing when it is missing or may not be read.
    Optional<String> text(Path path) {
        used.add(path);
        try {
            KernelFile file = open.get(path);
            if (file == null) {
                file = new KernelFile(path);
                open.put(path, file);
            }
            return Optional.of(file.text());
        } catch (IOException _) {
            close(path);
            return Optional.empty();
        }
    }

    /// The number a file says.
    OptionalLong number(Path path) {
        return text(path).map(KernelFile::number).orElseGet(OptionalLong::empty);
    }

    /// Ends a round.
    void closeUnused() {
        Set<Path> unused = new HashSet<>(open.keySet());
        unused.removeAll(used);
        unused.forEach(this::close);
        used.clear();
    }

    private void close(Path path) {
        KernelFile file = open.remove(path);
        if (file != null) {
            file.close();
        }
    }

    @Override
    public void close() {
        open.values().forEach(KernelFile::close);
        open.clear();
    }
}
