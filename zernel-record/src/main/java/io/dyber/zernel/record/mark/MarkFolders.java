package io.dyber.zernel.record.mark;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Where running recorders have their sockets: `/run/zernel` for root, `zernel` in the runtime folder for users.
final class MarkFolders {
    /// System property that names one folder instead; for tests.
    static final String FOLDER_PROPERTY = "zernel.run";

    static final String SUFFIX = ".sock";

    private static final Path OF_ROOT = Path.of("/run/zernel");
    private static final Path OF_USERS = Path.of("/run/user");

    private MarkFolders() {}

    /// Where a recorder of this user puts its socket.
    ///
    /// @throws IOException when this user has no such place
    static Path own() throws IOException {
        String chosen = System.getProperty(FOLDER_PROPERTY, "");
        if (!chosen.isEmpty()) {
            return Path.of(chosen);
        }
        if (Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
            return OF_ROOT;
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime == null || runtime.isEmpty()) {
            throw new IOException("XDG_RUNTIME_DIR is not set");
        }
        return Path.of(runtime, "zernel");
    }

    /// The sockets of all recorders that this user can see, also of those that are gone.
    static List<Path> sockets() {
        List<Path> sockets = new ArrayList<>();
        for (Path folder : all()) {
            sockets.addAll(socketsIn(folder));
        }
        return sockets;
    }

    private static Set<Path> all() {
        String chosen = System.getProperty(FOLDER_PROPERTY, "");
        if (!chosen.isEmpty()) {
            return Set.of(Path.of(chosen));
        }
        Set<Path> folders = new LinkedHashSet<>(List.of(OF_ROOT));
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            folders.add(Path.of(runtime, "zernel"));
        }
        entries(OF_USERS, "*").forEach(user -> folders.add(user.resolve("zernel")));
        return folders;
    }

    static List<Path> socketsIn(Path folder) {
        return entries(folder, "*" + SUFFIX);
    }

    private static List<Path> entries(Path folder, String glob) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
            List<Path> found = new ArrayList<>();
            entries.forEach(found::add);
            found.sort(null);
            return found;
        } catch (IOException _) {
            return List.of();
        }
    }
}
