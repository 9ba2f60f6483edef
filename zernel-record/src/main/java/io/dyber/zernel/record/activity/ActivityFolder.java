package io.dyber.zernel.record.activity;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.dyber.zernel.record.bpf.Futex;
import io.dyber.zernel.record.recording.RecordingFile.Owner;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/// The folder in memory through which the library in the job and the recorder talk, and the library's file.
///
/// Where the job is another user's, the folder stays the recorder's own: that user may make files in it, and not replace it. A
/// lock says that the recorder lives. What a recorder leaves that was killed, the next one removes.
final class ActivityFolder implements AutoCloseable {
    private static final String NAME = "zernel-activity-";
    private static final String LIBRARY = "libzernel-activity.so";
    private static final String CONTROL = "control";
    private static final int CONTROL_SIZE = 24;
    private static final long WANTED = 8;
    private static final long RING_BYTES = 16;
    private static final int SHARED_WITH_OTHERS = 01733;

    private final Path folder;
    private final Path place;
    private final FileChannel channel;
    private final MemorySegment control;
    private final Arena arena = Arena.ofShared();
    private final Optional<Owner> owner;
    private final long ringBytes;

    private ActivityFolder(Path folder, Path place, Optional<Owner> owner, long ringBytes) throws IOException {
        this.folder = folder;
        this.place = place;
        this.owner = owner;
        this.ringBytes = ringBytes;
        this.channel = FileChannel.open(
                folder.resolve(CONTROL), StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileLock _ = channel.lock();
        this.control = channel.map(FileChannel.MapMode.READ_WRITE, 0, CONTROL_SIZE, arena);
        control.set(JAVA_LONG, RING_BYTES, ringBytes);
        control.set(JAVA_LONG, 0, ActivityRing.MAGIC);
    }

    /// Makes it.
    ///
    /// @param owner of the job, when not the user running the recorder
    /// @param ringBytes of each process's ring, a power of two
    static ActivityFolder make(Optional<Owner> owner, long ringBytes) throws IOException {
        Path memory = Path.of("/dev/shm");
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        removeAbandoned(Files.isDirectory(memory) ? memory : temporary, temporary);
        Path place = Files.createTempDirectory(temporary, NAME);
        Path folder = Files.isDirectory(memory) ? Files.createDirectory(memory.resolve(place.getFileName())) : place;
        Files.setAttribute(folder, "unix:mode", owner.isPresent() ? SHARED_WITH_OTHERS : 0700);
        Files.setAttribute(place, "unix:mode", owner.isPresent() && folder.equals(place) ? SHARED_WITH_OTHERS : 0755);
        Path library = place.resolve(LIBRARY);
        try (InputStream bytes = ActivityFolder.class.getResourceAsStream("/native/" + arch() + "/" + LIBRARY)) {
            if (bytes == null) {
                remove(folder);
                remove(place);
                throw new IOException("the library is not built for " + arch());
            }
            Files.copy(bytes, library);
        }
        Files.setAttribute(library, "unix:mode", 0755);
        ActivityFolder made = new ActivityFolder(folder, place, owner, ringBytes);
        Files.setAttribute(folder.resolve(CONTROL), "unix:mode", 0644);
        return made;
    }

    private static String arch() {
        return System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
    }

    /// What the job's environment has to say.
    Map<String, String> environment() {
        return Map.of(GpuActivity.INJECTION, place.resolve(LIBRARY).toString(), "ZERNEL_ACTIVITY", folder.toString());
    }

    /// Says whether activity is to be recorded, to all processes at once.
    void want(boolean on) {
        control.set(JAVA_INT, WANTED, on ? 1 : 0);
        Futex.wake(control.asSlice(WANTED, 4));
    }

    /// Maps the rings of processes that have come, and unlinks their files: nothing is left of them when both have ended.
    List<ActivityRing> newRings() throws IOException {
        List<ActivityRing> rings = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "[0-9]*[0-9]")) {
            for (Path file : files) {
                if (isOfTheJob(file)) {
                    rings.add(new ActivityRing(file, ringBytes));
                }
                Files.deleteIfExists(file);
            }
        }
        return rings;
    }

    private boolean isOfTheJob(Path file) throws IOException {
        Map<String, Object> facts = Files.readAttributes(file, "unix:uid,nlink,isRegularFile", LinkOption.NOFOLLOW_LINKS);
        boolean theirs = owner.isEmpty() || Objects.equals(facts.get("uid"), owner.get().uid());
        return theirs && Objects.equals(facts.get("isRegularFile"), true) && Objects.equals(facts.get("nlink"), 1);
    }

    /// Those of recorders that are gone: nobody holds their lock.
    private static void removeAbandoned(Path memory, Path temporary) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(memory, NAME + "*")) {
            for (Path abandoned : folders) {
                if (!isHeld(abandoned.resolve(CONTROL))) {
                    remove(abandoned);
                    remove(temporary.resolve(abandoned.getFileName()));
                }
            }
        }
    }

    /// A folder without control is just being made, or somebody else's.
    private static boolean isHeld(Path control) {
        try (FileChannel other = FileChannel.open(control, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            return other.tryLock() == null;
        } catch (IOException | OverlappingFileLockException _) {
            return true;
        }
    }

    private static void remove(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException _) {
            return;
        }
        Files.deleteIfExists(folder);
    }

    /// Removes everything; processes of the job that still run see it and record no more.
    @Override
    public void close() throws IOException {
        try (channel) {
            remove(folder);
            remove(place);
        }
        arena.close();
    }
}
