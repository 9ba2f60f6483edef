package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.FileRecord;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/// The paths of open files by the keys that events carry instead (`z_file` of `bpf/zernel.bpf.h`).
///
/// The kernel side tells a path when it first sees a file, and again when it has forgotten that it did, which is
/// sooner than it is forgotten here. Not thread-safe.
final class FilePaths {
    /// Keys that are not of an open file: of a mapped one by its inode.
    private static final long INODE = 1L << 61;

    /// Keys of paths that were only asked for: each of a single event, which comes right behind.
    private static final long ASKED = 1L << 62;

    private static final int NO_TEXT = -1;

    /// In the tables: looked for without success.
    private static final int NOT_FOUND = Integer.MAX_VALUE;

    private static final int TYPE = 0xf000;
    private static final int SOCKET = 0xc000;
    private static final int PIPE = 0x1000;

    /// A job that reads a million files does not fill the memory with their names: after so many, a file is told by
    /// its directory.
    private static final int MOST_PATHS = 200_000;

    private final StringDictionary texts;
    private final KeyTable constants = new KeyTable(16);
    private final Set<String> paths = new HashSet<>();
    private final Recent files = new Recent(1 << 17);
    private final Recent asked = new Recent(1 << 12);
    private Optional<FileRecord> layout = Optional.empty();
    private MappedPath mapped = (_, _, _) -> Optional.empty();

    /// The texts of the keys that were used last.
    private static final class Recent {
        private KeyTable recent;
        private KeyTable older = new KeyTable(16);

        Recent(int slots) {
            recent = new KeyTable(slots);
        }

        int get(long file, long id) {
            int text = recent.get(file, id);
            if (text < 0) {
                text = older.get(file, id);
                if (text >= 0) {
                    put(file, id, text);
                }
            }
            return text;
        }

        void put(long file, long id, int text) {
            if (recent.isFull()) {
                older = recent;
                recent = new KeyTable(older.capacity());
            }
            recent.put(file, id, text);
        }
    }

    FilePaths(StringDictionary texts) {
        this.texts = texts;
        constants.put(0, 1, texts.id("futex"));
    }

    void readAs(FileRecord record, MappedPath mappedPath) {
        layout = Optional.of(record);
        mapped = mappedPath;
    }

    /// The text of a key in an event of a process, -1 for none.
    int text(int pid, long file, long id) {
        int text = known(file, id);
        if (text < 0 && (file & INODE) != 0 && file > 0) {
            text = mapped.find(pid, (int) file, id)
                    .map(path -> texts.idOfMany(bounded(path)))
                    .orElse(NOT_FOUND);
            put(file, id, text);
        }
        return text == NOT_FOUND ? NO_TEXT : text;
    }

    private int known(long file, long id) {
        return file == 0 ? constants.get(file, id) : recent(file).get(file, id);
    }

    private void put(long file, long id, int text) {
        recent(file).put(file, id, text);
    }

    /// Paths that were only asked for push out none of a file: of that the kernel does not know.
    private Recent recent(long file) {
        return (file & ASKED) != 0 && file > 0 ? asked : files;
    }

    /// Takes in the path of a file by its inode.
    void learn(int device, long inode, String path) {
        put(INODE | Integer.toUnsignedLong(device), inode, texts.idOfMany(bounded(path)));
    }

    /// Takes in a record that tells a path. A path that the kernel could not read is none.
    void learn(ByteBuffer data, int at) {
        layout.ifPresent(record -> {
            String path = path(record, data, at);
            if (!path.isEmpty()) {
                put(
                        data.getLong(at + record.file()),
                        data.getLong(at + record.file() + 8),
                        texts.idOfMany(bounded(path)));
                long inode = data.getLong(at + record.inode());
                if (inode != 0) {
                    learn(data.getInt(at + record.device()), inode, path);
                }
            }
        });
    }

    private String bounded(String path) {
        int slash = path.lastIndexOf('/');
        if (slash < 0 || paths.contains(path)) {
            return path;
        }
        if (paths.size() >= MOST_PATHS) {
            return path.substring(0, slash + 1) + "*";
        }
        paths.add(path);
        return path;
    }

    /// The path that a record tells; empty if the kernel could not read it.
    static String path(FileRecord record, ByteBuffer data, int at) {
        int length = data.getInt(at + record.length());
        List<String> names = length == 0
                ? List.of()
                : Arrays.asList(EventReader.utf8(data, at + record.names(), length - 1).split("\0"));
        long inode = data.getLong(at + record.inode());
        int type = data.getShort(at + record.mode()) & TYPE;
        // Also one with a name (FIFO): who reads it waits for who writes it, not for storage.
        String prefix = type == PIPE ? "pipe:" : "";
        return switch (data.getShort(at + record.form())) {
            case FileRecord.PATH -> prefix + "/" + String.join("/", names.reversed());
            case FileRecord.CUT -> prefix + ".../" + String.join("/", names.reversed());
            case FileRecord.NO_DIRECTORY -> special(type, inode, names);
            case FileRecord.ASKED -> String.join("", names);
            default -> throw new IllegalStateException("a file record of an unknown form");
        };
    }

    /// As `/proc/PID/fd` shows it, of a socket with its protocol.
    private static String special(int type, long inode, List<String> names) {
        return switch (type) {
            case SOCKET -> "socket:[" + inode + "]" + protocol(String.join("", names));
            case PIPE -> "pipe:[" + inode + "]";
            default -> {
                String name = String.join("", names);
                yield name.startsWith("[") ? "anon_inode:" + name : "/" + name;
            }
        };
    }

    /// By the kernel's name of it, such as `TCPv6` or `UNIX-STREAM`.
    private static String protocol(String name) {
        for (String protocol : List.of("TCP", "UDP", "UNIX", "NETLINK", "MPTCP")) {
            if (name.startsWith(protocol)) {
                return " " + protocol.toLowerCase(Locale.ROOT);
            }
        }
        return "";
    }
}
