package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.record.recording.OutputException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/// Who may write a recording: makes the `.live` folder of a new one, or takes over a crashed one's, or says why not.
///
/// The lock in the folder dies with its process, so a recorder at work is told from a crashed one for certain.
final class Claim {
    /// So often it is tried to lock the folder.
    private static final int TRIES = 10;
    private static final Duration BETWEEN = Duration.ofMillis(10);

    private Claim() {}

    /// Locks a file, if nobody else has.
    interface Locking {
        boolean locks(FileChannel file) throws IOException;
    }

    /// Makes the folder for a new recording.
    static ClaimedFolder create(Path output, Optional<RecordingFile.Owner> owner) {
        return create(output, owner, Claim::locks);
    }

    static ClaimedFolder create(Path output, Optional<RecordingFile.Owner> owner, Locking locking) {
        String doing = "recording to '" + output + "'";
        try {
            Folder parent = parent(output, doing);
            refuseUnusual(parent, output, doing);
            Optional<Owners> owners = owner.isPresent() ? Optional.of(Owners.of(owner.get())) : Optional.empty();
            if (owners.isPresent() && !parent.mayBeWrittenBy(owners.get().user())) {
                String message = doing + ": user " + owner.get().uid() + " may not write to that folder";
                throw new OutputException(Reason.DENIED, message, "sudo is for recording: name a file of that user's");
            }
            String name = LiveFolder.nameNextTo(output);
            try {
                // What a recording holds, such as command lines, is its owner's alone until there is a file.
                Files.createDirectory(
                        output.toAbsolutePath().resolveSibling(name),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException _) {
                throw taken(parent, output, doing, locking);
            }
            Folder live = parent.child(name);
            FileChannel lock = live.create(LiveFolder.LOCK);
            boolean ours = isOurs(parent, live, name);
            ClaimedFolder folder = new ClaimedFolder(output, parent, live, lock, owners);
            if (ours) {
                folder.show();
                folder.give(LiveFolder.LOCK); // Before it is locked: the JDK opens and closes the file for it, which unlocks.
            }
            if (ours && acquired(lock, locking)) {
                return signed(folder, lock);
            }
            if (ours) {
                folder.discard();
            }
            throw new OutputException(Reason.IN_USE, doing + ": another process uses '" + name + "'", "");
        } catch (IOException e) {
            throw OutputException.of(doing, e);
        }
    }

    private static ClaimedFolder signed(ClaimedFolder folder, FileChannel lock) throws IOException {
        try {
            ClaimedFolder.writeAll(lock, (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8));
            return folder;
        } catch (IOException e) {
            folder.discard();
            throw e;
        }
    }

    /// Takes over the folder of a recorder that is gone.
    static ClaimedFolder adopt(Path output) {
        return adopt(output, Claim::locks);
    }

    static ClaimedFolder adopt(Path output, Locking locking) {
        String doing = "recovering '" + output + "'";
        String name = LiveFolder.nameNextTo(output);
        try {
            Folder parent = parent(output, doing);
            Folder live = parent.child(name);
            FileChannel lock = live.readAndWrite(LiveFolder.LOCK);
            if (!acquired(lock, locking)) {
                throw inUse(doing, pid(lock));
            }
            Optional<Owners> owners = live.attributes(LiveFolder.LOCK).map(Owners::of);
            live.seize();
            return new ClaimedFolder(output, parent, live, lock, owners);
        } catch (NoSuchFileException | NotDirectoryException e) {
            String message = doing + ": there is no '" + output + LiveFolder.SUFFIX + "' of a recorder";
            throw new OutputException(Reason.MISSING, message, "", e);
        } catch (AccessDeniedException e) {
            String hint = "run it as the user that recorded, or with sudo";
            throw new OutputException(Reason.DENIED, doing + ": permission denied", hint, e);
        } catch (IOException e) {
            throw OutputException.of(doing, e);
        }
    }

    private static Folder parent(Path output, String doing) throws IOException {
        Path parent = output.toAbsolutePath().getParent();
        if (parent == null || output.getFileName() == null) {
            throw new OutputException(Reason.EXISTS, doing + ": is a folder", "name a file");
        }
        try {
            return Folder.open(parent);
        } catch (NoSuchFileException e) {
            throw new OutputException(Reason.MISSING, doing + ": there is no folder '" + parent + "'", "", e);
        }
    }

    /// Replacing `/dev/null` or a link by a recording is never what the user meant.
    private static void refuseUnusual(Folder parent, Path output, String doing) throws IOException {
        Optional<PosixFileAttributes> present = parent.attributes(String.valueOf(output.getFileName()));
        if (present.isEmpty() || present.get().isRegularFile()) {
            return;
        }
        PosixFileAttributes attributes = present.get();
        String what = attributes.isDirectory() ? "a folder" : attributes.isSymbolicLink() ? "a link" : "not a file";
        throw new OutputException(Reason.EXISTS, doing + ": is " + what, "name a file");
    }

    /// Another process may have swapped the parent folder between the two calls.
    private static boolean isOurs(Folder parent, Folder live, String name) throws IOException {
        Optional<PosixFileAttributes> folder = parent.attributes(name);
        Optional<PosixFileAttributes> file = live.attributes(LiveFolder.LOCK);
        return folder.isPresent() && file.isPresent() && folder.get().owner().equals(file.get().owner());
    }

    private static OutputException taken(Folder parent, Path output, String doing, Locking locking) throws IOException {
        String name = LiveFolder.nameNextTo(output);
        try (Folder live = parent.child(name);
                FileChannel lock = live.readAndWrite(LiveFolder.LOCK)) {
            return acquired(lock, locking) ? unfinished(doing, output) : inUse(doing, pid(lock));
        } catch (NoSuchFileException _) {
            return unfinished(doing, output);
        } catch (AccessDeniedException _) {
            String message = doing + ": '" + name + "' is another user's";
            return new OutputException(Reason.DENIED, message, "choose another output file");
        } catch (FileSystemException _) {
            String message = doing + ": '" + name + "' is not a recorder's folder";
            return new OutputException(Reason.EXISTS, message, "choose another output file");
        }
    }

    private static OutputException unfinished(String doing, Path output) {
        return new OutputException(
                Reason.UNFINISHED,
                doing + ": an unfinished recording is in '" + output + LiveFolder.SUFFIX + "'",
                "run zernel-record recover " + output + ", or remove the folder");
    }

    private static OutputException inUse(String doing, String pid) {
        return new OutputException(Reason.IN_USE, doing + ": already being recorded by pid " + pid, "");
    }

    /// Waits for readers: they hold a shared lock for a moment, to learn whether a recorder lives.
    private static boolean acquired(FileChannel lock, Locking locking) throws IOException {
        boolean locked = locking.locks(lock);
        for (int tries = 1; !locked && tries < TRIES; tries++) {
            LockSupport.parkNanos(BETWEEN.toNanos());
            locked = locking.locks(lock);
        }
        return locked;
    }

    static boolean locks(FileChannel lock) throws IOException {
        try {
            return lock.tryLock() != null;
        } catch (OverlappingFileLockException _) {
            return false;
        }
    }

    private static String pid(FileChannel lock) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(32);
        int _ = lock.read(content, 0);
        String pid = new String(content.array(), 0, content.position(), StandardCharsets.US_ASCII).strip();
        return pid.matches("\\d+") ? pid : "?";
    }
}
