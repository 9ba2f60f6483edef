package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.record.recording.OutputException.Reason;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.List;
import java.util.Optional;

/// A [LiveFolder] that this process has locked and writes, and the place next to it where `run.parquet` will appear.
///
/// It stays the recorder's own until it is given up, also when its files belong to another user, so nobody else can
/// plant a file in it.
final class ClaimedFolder implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ClaimedFolder.class.getName());

    private final Path output;
    private final Folder parent;
    private final Folder live;
    private final FileChannel lock;
    private final Optional<Owners> owners;
    private boolean removed;

    /// Takes over the folders and the lock.
    ClaimedFolder(Path output, Folder parent, Folder live, FileChannel lock, Optional<Owners> owners) {
        this.output = output;
        this.parent = parent;
        this.live = live;
        this.lock = lock;
        this.owners = owners;
    }

    Path output() {
        return output;
    }

    /// Makes a file that must not exist.
    FileChannel create(String name) throws IOException {
        FileChannel channel = live.create(name);
        give(name);
        return channel;
    }

    FileChannel read(String name) throws IOException {
        return live.read(name);
    }

    boolean has(String name) throws IOException {
        return live.attributes(name).isPresent();
    }

    long size(String name) throws IOException {
        return live.attributes(name).map(PosixFileAttributes::size).orElse(0L);
    }

    List<String> names() throws IOException {
        return live.names();
    }

    void rename(String from, String to) throws IOException {
        live.move(from, live, to);
    }

    void delete(String name) throws IOException {
        live.deleteIfThere(name);
    }

    /// Replaces a small file as a whole.
    void replace(String name, byte[] content) throws IOException {
        String temporary = name + ".tmp";
        live.deleteIfThere(temporary);
        try (FileChannel channel = create(temporary)) {
            writeAll(channel, content);
            channel.force(false);
        }
        live.move(temporary, live, name);
    }

    /// The folder of the output.
    Folder parent() {
        return parent;
    }

    /// Whether a file belongs to the same user as ours do.
    boolean isOwnedLike(PosixFileAttributes file) throws IOException {
        return live.attributes(LiveFolder.LOCK).filter(own -> own.owner().equals(file.owner())).isPresent();
    }

    /// Whether a file is from before this folder was made.
    boolean isYoungerThan(PosixFileAttributes file) throws IOException {
        return live.attributes(LiveFolder.LOCK)
                .filter(own -> own.lastModifiedTime().compareTo(file.lastModifiedTime()) > 0)
                .isPresent();
    }

    /// Makes a finished file of this folder the output or, under another name, a file beside it. What is in its place is
    /// kept.
    ///
    /// @return the name under which that is now
    Optional<String> publish(String name, String target) throws IOException {
        Optional<PosixFileAttributes> present = parent.attributes(target);
        if (present.filter(a -> !a.isRegularFile()).isPresent()) {
            throw new OutputException(
                    Reason.EXISTS, "writing '" + output + "': something that is not a file is in its place", "");
        }
        Optional<String> kept = present.isPresent() ? Optional.of(parent.putAside(target)) : Optional.empty();
        try {
            live.move(name, parent, target);
        } catch (IOException e) {
            if (kept.isPresent()) {
                parent.move(kept.get(), parent, target);
            }
            throw e;
        }
        parent.sync();
        return kept;
    }

    /// Deletes the folder; the output is safe.
    void remove() throws IOException {
        for (String name : live.names()) {
            live.delete(name);
        }
        parent.deleteFolder(LiveFolder.nameNextTo(output));
        removed = true;
    }

    /// Gives up a folder that holds nothing yet.
    void discard() {
        try (this) {
            remove();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "removing ''{0}'': {1}", LiveFolder.nameNextTo(output), e.getMessage());
        }
    }

    /// Lets go of the folder. What is left of it then belongs to the owner of the files.
    @Override
    public void close() throws IOException {
        try (parent;
                live;
                lock) {
            if (!removed && owners.isPresent() && parent.attributes(LiveFolder.nameNextTo(output)).isPresent()) {
                give(parent, LiveFolder.nameNextTo(output));
            }
        }
    }

    static void writeAll(WritableByteChannel channel, byte[] content) throws IOException {
        writeAll(channel, ByteBuffer.wrap(content));
    }

    static void writeAll(WritableByteChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            int _ = channel.write(buffer);
        }
    }

    /// Lets the owner of the files follow what is written, who gets the folder itself at the end.
    void show() {
        try {
            if (owners.isPresent()) {
                parent.show(LiveFolder.nameNextTo(output), owners.get().group());
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "showing ''{0}'' to {1}: {2}", LiveFolder.nameNextTo(output), owners.get().group(),
                    e.getMessage());
        }
    }

    /// To whom the recording belongs.
    void give(String name) {
        give(live, name);
    }

    /// A recording that root keeps is better than none: file systems that map root to nobody refuse this.
    private void give(Folder folder, String name) {
        try {
            if (owners.isPresent()) {
                folder.give(name, owners.get());
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "giving ''{0}'' to {1}: {2}", name, owners.get().user(), e.getMessage());
        }
    }
}
