package io.dyber.zernel.record.python;

import io.dyber.zernel.record.live.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/// The interpreters of this machine, 3.10 and later: those of pyenv and of the system, and those that `ZERNEL_PYTHONS` names,
/// separated by colons.
public final class Pythons {
    private static final String NAME = "python3\\.1[0-9]t?";

    private Pythons() {}

    /// Their programs; none skips the test.
    public static List<Path> all() throws IOException {
        List<Path> all = new ArrayList<>();
        Path versions = Path.of(System.getProperty("user.home"), ".pyenv", "versions");
        if (Files.isDirectory(versions)) {
            try (Stream<Path> folders = Files.list(versions)) {
                for (Path folder : folders.sorted().toList()) {
                    all.addAll(in(folder.resolve("bin")));
                }
            }
        }
        all.addAll(in(Path.of("/usr/bin")));
        Arrays.stream(System.getenv().getOrDefault("ZERNEL_PYTHONS", "").split(":"))
                .filter(path -> !path.isEmpty())
                .map(Path::of)
                .forEach(all::add);
        if (all.isEmpty()) {
            Needs.skip("needs a CPython from 3.10 on, of pyenv, in /usr/bin or in ZERNEL_PYTHONS");
        }
        return all;
    }

    private static List<Path> in(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(NAME)).sorted().toList();
        }
    }
}
