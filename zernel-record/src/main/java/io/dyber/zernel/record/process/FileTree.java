package io.dyber.zernel.record.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The files as a process sees them: its paths may begin elsewhere than ours.
///
/// Links are followed here and not by the kernel, for which an absolute link in another root would lead into ours. What is
/// a link is remembered. Not thread-safe.
public final class FileTree {
    private static final int MOST_LINKS = 40;
    private static final int MOST_ENTRIES = 20_000;

    private final Path root;
    private final Map<String, Optional<String>> links = new HashMap<>();

    /// @param root where the paths begin
    public FileTree(Path root) {
        this.root = root;
    }

    /// Where a file can be opened from here.
    ///
    /// @param real without links, as from [#real]
    public Path here(String real) {
        return root.resolve(real.substring(1));
    }

    /// The path without links of a file that is there.
    public Optional<String> real(String path) {
        if (!isPath(path)) {
            return Optional.empty();
        }
        Deque<String> open = new ArrayDeque<>(List.of(path.split("/")));
        String at = "";
        int followed = 0;
        while (!open.isEmpty()) {
            String name = open.remove();
            if (name.isEmpty() || name.equals(".")) {
                continue;
            }
            if (name.equals("..")) {
                at = at.substring(0, Math.max(0, at.lastIndexOf('/')));
                continue;
            }
            Optional<String> target = links.computeIfAbsent(at + "/" + name, this::link);
            if (target.isEmpty()) {
                at = at + "/" + name;
            } else if (++followed > MOST_LINKS) {
                return Optional.empty();
            } else {
                at = target.get().startsWith("/") ? "" : at;
                String[] parts = target.get().split("/");
                for (int i = parts.length - 1; i >= 0; i--) {
                    open.push(parts[i]);
                }
            }
        }
        String real = at.isEmpty() ? "/" : at;
        return Files.exists(here(real)) ? Optional.of(real) : Optional.empty();
    }

    /// Not every text is one: in the C locale, names must be ASCII.
    private boolean isPath(String path) {
        try {
            Path _ = root.resolve(path);
            return true;
        } catch (InvalidPathException _) {
            return false;
        }
    }

    /// Where a link leads; none of what is no link.
    Optional<String> link(String path) {
        Path here = here(path);
        try {
            return Files.isSymbolicLink(here)
                    ? Optional.of(Files.readSymbolicLink(here).toString())
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// The names in a folder; none if there is no such folder.
    public List<String> names(String folder) {
        List<String> names = new ArrayList<>();
        Optional<String> real = real(folder);
        if (real.isEmpty() || !Files.isDirectory(here(real.get()))) {
            return names;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(here(real.get()))) {
            for (Path entry : entries) {
                if (names.size() < MOST_ENTRIES) {
                    names.add(entry.getFileName().toString());
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            return names;
        }
        return names;
    }

    /// The bytes of a file; none if it cannot be read or is larger than this.
    public byte[] bytes(String path, int most) {
        Optional<String> real = real(path);
        try {
            if (real.isPresent() && Files.isRegularFile(here(real.get())) && Files.size(here(real.get())) <= most) {
                return Files.readAllBytes(here(real.get()));
            }
        } catch (IOException _) {
            return new byte[0];
        }
        return new byte[0];
    }

    /// The first bytes of a file.
    public byte[] head(String real, int most) {
        try (InputStream in = Files.newInputStream(here(real))) {
            return in.readNBytes(most);
        } catch (IOException _) {
            return new byte[0];
        }
    }

    public boolean isFile(String real) {
        return Files.isRegularFile(here(real));
    }
}
