package io.dyber.zernel.record.recording;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// A folder held open. Files are named relative to it and never reached through a symbolic link, so nobody can
/// redirect a recorder that runs as root into files of its own choice by swapping folders.
final class Folder implements AutoCloseable {
    private final SecureDirectoryStream<Path> stream;

    private Folder(DirectoryStream<Path> stream) throws IOException {
        if (!(stream instanceof SecureDirectoryStream<Path> secure)) {
            stream.close();
            throw new IOException("this system cannot name files relative to an open folder");
        }
        this.stream = secure;
    }

    @SuppressWarnings("StreamResourceLeak") // the folder owns it
    static Folder open(Path path) throws IOException {
        return new Folder(Files.newDirectoryStream(path));
    }

    Folder child(String name) throws IOException {
        return new Folder(stream.newDirectoryStream(Path.of(name), LinkOption.NOFOLLOW_LINKS));
    }

    /// Makes a file that must not exist.
    FileChannel create(String name) throws IOException {
        return channel(name, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW));
    }

    /// @throws IOException also when it is not a file: opening a pipe would wait for its other end
    FileChannel read(String name) throws IOException {
        refuseUnusual(name);
        return channel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
    }

    FileChannel readAndWrite(String name) throws IOException {
        refuseUnusual(name);
        return channel(
                name, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
    }

    void move(String from, Folder to, String as) throws IOException {
        stream.move(Path.of(from), to.stream, Path.of(as));
    }

    /// Gives a file the first free name of `run.1.parquet`, `run.2.parquet` and so on, and returns that. A name is taken
    /// by making an empty file, which fails where there is one, and only that file is replaced.
    String putAside(String name) throws IOException {
        int dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length();
        for (int number = 1; ; number++) {
            String free = name.substring(0, dot) + "." + number + name.substring(dot);
            if (attributes(free).isEmpty() && isTaken(free)) {
                try {
                    move(name, this, free);
                    return free;
                } catch (IOException e) {
                    delete(free);
                    throw e;
                }
            }
        }
    }

    private boolean isTaken(String free) throws IOException {
        try (FileChannel _ = create(free)) {
            return true;
        } catch (FileAlreadyExistsException _) {
            return false;
        }
    }

    void delete(String name) throws IOException {
        stream.deleteFile(Path.of(name));
    }

    void deleteIfThere(String name) throws IOException {
        if (attributes(name).isPresent()) {
            delete(name);
        }
    }

    void deleteFolder(String name) throws IOException {
        stream.deleteDirectory(Path.of(name));
    }

    List<String> names() throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = stream.newDirectoryStream(Path.of("."))) {
            for (Path entry : entries) {
                names.add(String.valueOf(entry.getFileName()));
            }
        }
        names.sort(null);
        return names;
    }

    /// Of the entry itself, not of what a link points to.
    Optional<PosixFileAttributes> attributes(String name) throws IOException {
        try {
            return Optional.of(view(name).readAttributes());
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }

    void give(String name, Owners owners) throws IOException {
        PosixFileAttributeView view = view(name);
        view.setGroup(owners.group());
        view.setOwner(owners.user());
    }

    /// Lets a group read what is in a folder, and change nothing there.
    void show(String name, GroupPrincipal group) throws IOException {
        PosixFileAttributeView view = view(name);
        view.setGroup(group);
        view.setPermissions(PosixFilePermissions.fromString("rwxr-x---"));
    }

    /// False where it is certain that this user may not make files here. Whether a user is of a group is not asked.
    boolean mayBeWrittenBy(UserPrincipal user) throws IOException {
        PosixFileAttributes self = view(".").readAttributes();
        Set<PosixFilePermission> allowed = self.permissions();
        return self.owner().equals(user)
                ? allowed.contains(PosixFilePermission.OWNER_WRITE)
                : allowed.contains(PosixFilePermission.GROUP_WRITE)
                        || allowed.contains(PosixFilePermission.OTHERS_WRITE);
    }

    /// Makes it this process's own, so that nobody else can put files into it any more.
    void seize() throws IOException {
        Owners self = Owners.of(Files.readAttributes(Path.of("/proc/self"), PosixFileAttributes.class));
        if (!view(".").readAttributes().owner().equals(self.user())) {
            give(".", self);
        }
    }

    /// Puts creations, renames and deletions on the disk.
    void sync() throws IOException {
        try (FileChannel self = channel(".", Set.of(StandardOpenOption.READ))) {
            self.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }

    private void refuseUnusual(String name) throws IOException {
        if (attributes(name).filter(entry -> !entry.isRegularFile()).isPresent()) {
            throw new FileSystemException(name, null, "'" + name + "' is not a file");
        }
    }

    private PosixFileAttributeView view(String name) {
        return stream.getFileAttributeView(
                Path.of(name), PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    }

    private FileChannel channel(String name, Set<OpenOption> options) throws IOException {
        return (FileChannel) stream.newByteChannel(Path.of(name), options);
    }
}
