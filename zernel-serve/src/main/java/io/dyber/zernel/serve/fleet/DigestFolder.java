package io.dyber.zernel.serve.fleet;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.recording.Digests;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.serve.fleet.FleetWindow.Fate;
import io.dyber.zernel.serve.fleet.FleetWindow.Held;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The folder where digests arrive. What is new there is copied away and offered to the window, so that a file that is
/// replaced while it is read does no harm. Links are not followed.
///
/// Not thread-safe.
final class DigestFolder implements AutoCloseable {
    static final long LARGEST = 64L << 20;
    private static final int MOST_FILES = 20_000;
    private static final int MOST_TROUBLES = 20;
    private static final System.Logger LOG = System.getLogger(DigestFolder.class.getName());

    private final Path folder;
    private final Path copies;
    private final DuckDb duckDb;
    private final Map<Path, Version> known = new HashMap<>();
    private final Deque<Trouble> troubles = new ArrayDeque<>();
    private long copied;
    private boolean begun;

    private record Version(long bytes, long modifiedMs) {}

    /// A file that was left out.
    record Trouble(String name, String fate, String why, long atMs) {}

    /// @throws RecordingException if there is no such folder
    DigestFolder(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new RecordingException("serving '" + folder + "': not a folder", "--fleet takes the folder where digests arrive: mkdir " + folder);
        }
        this.folder = folder;
        try {
            this.copies = Files.createTempDirectory("zernel-fleet-");
        } catch (IOException e) {
            throw new RecordingException("making a temporary folder: " + e, null, e);
        }
        this.duckDb = DuckDb.open(DatabaseOptions.defaults().withThreads(1).withMemoryLimit("256MB"));
    }

    Path path() {
        return folder;
    }

    /// A text with the names of the files that came, in place of those of our copies.
    String withoutCopies(String text) {
        return text.replaceAll(Pattern.quote(copies + "/") + "\\d+-", Matcher.quoteReplacement(folder + "/"));
    }

    /// The latest files that were left out, the newest last.
    List<Trouble> troubles() {
        return List.copyOf(troubles);
    }

    /// Offers what has come since the last time.
    ///
    /// @return how many the window took
    int scan(FleetWindow window) {
        Map<Path, Arrived> arrived = new HashMap<>();
        try {
            list(window, arrived);
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(Level.WARNING, "listing ''{0}'': {1}", folder, e);
            return 0;
        }
        List<Digests.Unread> unread = new ArrayList<>();
        List<Digests.Header> headers = arrived.isEmpty() ? List.of() : Digests.headers(List.copyOf(arrived.keySet()), duckDb, unread);
        for (Digests.Unread file : unread) {
            Arrived one = arrived.get(file.path());
            leaveOut(one == null ? "" : one.name(), fate(file.state()), file.why(), window);
            delete(file.path());
        }
        int taken = 0;
        for (Digests.Header header : headers) {
            Arrived one = arrived.get(header.path());
            if (one != null) {
                FleetWindow.Outcome outcome = window.offer(new Held(
                        new FleetWindow.Sender(header.host(), header.recorder()),
                        header.path(), one.name(), header.startedNanos(), header.endedNanos(), one.atMs()));
                outcome.leaving().ifPresent(held -> delete(held.file()));
                if (outcome.fate() == Fate.READ) {
                    taken++;
                } else {
                    tell(one.name(), outcome.fate(), why(outcome.fate()));
                }
            }
        }
        return taken;
    }

    private record Arrived(String name, long atMs) {}

    private void list(FleetWindow window, Map<Path, Arrived> arrived) throws IOException {
        Set<Path> there = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "[!.]*.parquet")) {
            for (Path file : files) {
                if (there.size() >= MOST_FILES) {
                    leaveOut(String.valueOf(file.getFileName()), Fate.DROPPED, "more than " + MOST_FILES + " files", window);
                    break;
                }
                there.add(file);
                look(file, window, arrived);
            }
        }
        known.keySet().retainAll(there);
        begun = true;
    }

    private void look(Path file, FleetWindow window, Map<Path, Arrived> arrived) {
        String name = String.valueOf(file.getFileName());
        try {
            BasicFileAttributes about = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            Version version = new Version(about.size(), about.lastModifiedTime().toMillis());
            if (version.equals(known.put(file, version))) {
                return;
            }
            if (!about.isRegularFile()) {
                leaveOut(name, Fate.FOREIGN, "not a file", window);
            } else if (about.size() > LARGEST) {
                leaveOut(name, Fate.TOO_LARGE, "more than " + (LARGEST >> 20) + " MiB", window);
            } else {
                Path copy = copies.resolve(copied++ + "-" + name);
                Files.copy(file, copy);
                long nowMs = System.currentTimeMillis();
                // What was there before us came when it was written; else our clock says when, whatever those of others say.
                arrived.put(copy, new Arrived(name, begun ? nowMs : Math.min(version.modifiedMs(), nowMs)));
            }
        } catch (NoSuchFileException _) {
            known.remove(file); // replaced or taken away meanwhile
        } catch (IOException e) {
            leaveOut(name, Fate.DAMAGED, String.valueOf(e), window);
        }
    }

    /// Of copies that can be opened and not be read, takes those away.
    ///
    /// @return whether there was one
    boolean removeDamaged(FleetWindow window) {
        boolean any = false;
        for (Held held : window.sending()) {
            try {
                duckDb.query("SELECT max(hash(digest)) AS h FROM read_parquet(" + DuckDb.pathLiteral(held.file()) + ") AS digest");
            } catch (RecordingException e) {
                any = true;
                window.remove(held);
                tell(held.name(), Fate.DAMAGED, String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
                delete(held.file());
            }
        }
        return any;
    }

    private void leaveOut(String name, Fate fate, String why, FleetWindow window) {
        window.count(fate);
        tell(name, fate, why);
    }

    private void tell(String name, Fate fate, String why) {
        if (troubles.size() == MOST_TROUBLES) {
            troubles.removeFirst();
        }
        troubles.addLast(new Trouble(name, fate.label(), why, System.currentTimeMillis()));
    }

    private static Fate fate(String state) {
        return switch (state) {
            case "foreign" -> Fate.FOREIGN;
            case "newer" -> Fate.NEWER;
            default -> Fate.DAMAGED;
        };
    }

    private static String why(Fate fate) {
        return switch (fate) {
            case DUPLICATE -> "the machine's digest of this time was there already";
            case LATE -> "a newer digest of the machine was there already";
            default -> "too many machines";
        };
    }

    void delete(Path copy) {
        try {
            Files.deleteIfExists(copy);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "deleting ''{0}'': {1}", copy, e);
        }
    }

    @Override
    public void close() {
        if (!Files.isDirectory(copies)) {
            return;
        }
        duckDb.close();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(copies)) {
            files.forEach(this::delete);
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(Level.WARNING, "listing ''{0}'': {1}", copies, e);
        }
        delete(copies);
    }
}
