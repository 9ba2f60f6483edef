package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The folder in which a recorder keeps a recording that is not finished: numbered row groups, each first a journal,
/// then a Parquet file.
record LiveFolder(Path path) {
    private static final Pattern SEGMENT = Pattern.compile("(\\d{6,9})\\.parquet");
    private static final Pattern JOURNAL = Pattern.compile("journal-(\\d{6,9})\\.arrows");

    /// The folder that belongs to `output`, or `output` itself where that is such a folder.
    static LiveFolder of(Path output) {
        return new LiveFolder(
                output.toString().endsWith(".live") ? output : output.resolveSibling(output.getFileName() + ".live"));
    }

    boolean exists() {
        return Files.isDirectory(path);
    }

    /// Tells this folder from a later one of the same name; empty when there is none.
    Optional<Object> key() {
        try {
            return Optional.ofNullable(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// The file that the recorder will write at the end.
    Path output() {
        String name = path.toString();
        return Path.of(name.substring(0, name.length() - ".live".length()));
    }

    Path segment(int number) {
        return path.resolve("%06d.parquet".formatted(number));
    }

    Path journal(int number) {
        return path.resolve("journal-%06d.arrows".formatted(number));
    }

    /// Whether the recorder is gone without having finished: its lock dies with it. False where nobody can tell.
    boolean isAbandoned() {
        if (!Files.isRegularFile(path.resolve("lock"))) {
            return false;
        }
        try (FileChannel lock = FileChannel.open(path.resolve("lock"), StandardOpenOption.READ);
                FileLock ours = lock.tryLock(0, Long.MAX_VALUE, true)) {
            return ours != null;
        } catch (IOException | OverlappingFileLockException _) {
            return false;
        }
    }

    /// The smallest number, not below `from`, of a row group that is there in either form.
    OptionalInt firstFrom(int from) throws IOException {
        TreeSet<Integer> numbers = new TreeSet<>();
        try (Stream<Path> files = Files.list(path)) {
            files.forEach(file -> {
                String name = file.getFileName().toString();
                for (Pattern pattern : new Pattern[] {SEGMENT, JOURNAL}) {
                    Matcher matcher = pattern.matcher(name);
                    if (matcher.matches()) {
                        numbers.add(Integer.valueOf(matcher.group(1)));
                    }
                }
            });
        } catch (NoSuchFileException _) {
            return OptionalInt.empty();
        }
        Integer first = numbers.ceiling(from);
        return first == null ? OptionalInt.empty() : OptionalInt.of(first);
    }
}
