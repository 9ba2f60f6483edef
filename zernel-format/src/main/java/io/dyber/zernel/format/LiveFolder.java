package io.dyber.zernel.format;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The folder `run.parquet.live`, in which a recorder keeps a recording that is not finished: numbered row groups, each
/// first a journal, then a Parquet file, what the recording says about itself, and a lock.
///
/// All names in it are given here. Readers go by these paths. The recorder, which may be root in a folder of another user,
/// writes by the same names relative to folders that it holds open.
public record LiveFolder(Path path) {
    /// What the folder's name has behind that of the output.
    public static final String SUFFIX = ".live";
    /// The recorder holds an exclusive lock on this file, which ends with its process, and writes its pid there.
    public static final String LOCK = "lock";
    /// What the footer of the recording would be by now, as one JSON object.
    public static final String DESCRIPTION = "meta.json";

    private static final Pattern SEGMENT = Pattern.compile("(\\d{6,9})\\.parquet");
    private static final Pattern JOURNAL = Pattern.compile("journal-(\\d{6,9})\\.arrows");

    /// A row group by its number.
    ///
    /// @param finished whether its Parquet file is there; a journal next to that is stale
    public record RowGroup(int number, boolean finished) {}

    /// The folder that belongs to `output`, or `output` itself where that is named like such a folder.
    public static LiveFolder of(Path output) {
        return new LiveFolder(hasName(output) ? output : output.resolveSibling(nameNextTo(output)));
    }

    /// Whether this is a folder that a recorder made, maybe under another name.
    public static boolean isOne(Path folder) {
        return Files.isDirectory(folder) && (hasName(folder) || Files.exists(folder.resolve(DESCRIPTION)));
    }

    /// Whether the path is named like such a folder.
    public static boolean hasName(Path path) {
        return path.toString().endsWith(SUFFIX);
    }

    /// The name of the folder that belongs to an output.
    public static String nameNextTo(Path output) {
        return output.getFileName() + SUFFIX;
    }

    /// The file of a finished row group.
    public static String segmentName(int number) {
        return "%06d.parquet".formatted(number);
    }

    /// The file of a row group's events before that.
    public static String journalName(int number) {
        return "journal-%06d.arrows".formatted(number);
    }

    /// The number of the finished row group that a file of this name is; empty for other names.
    public static OptionalInt segmentNumber(String name) {
        return number(SEGMENT, name);
    }

    /// The number of the row group whose journal a file of this name is; empty for other names.
    public static OptionalInt journalNumber(String name) {
        return number(JOURNAL, name);
    }

    private static OptionalInt number(Pattern pattern, String name) {
        Matcher matcher = pattern.matcher(name);
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }

    public boolean exists() {
        return Files.isDirectory(path);
    }

    /// Tells this folder from a later one of the same name; empty when there is none.
    public Optional<Object> key() {
        try {
            return Optional.ofNullable(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// The file that the recorder will write at the end.
    public Path output() {
        String name = path.toString();
        return hasName(path) ? Path.of(name.substring(0, name.length() - SUFFIX.length())) : path;
    }

    public Path segment(int number) {
        return path.resolve(segmentName(number));
    }

    public Path journal(int number) {
        return path.resolve(journalName(number));
    }

    public Path description() {
        return path.resolve(DESCRIPTION);
    }

    /// Whether a recorder lives that writes here. False where that cannot be known.
    public boolean isHeld() {
        return holder() == Holder.RECORDER;
    }

    /// Whether the recorder is gone without having finished. False where that cannot be known.
    public boolean isAbandoned() {
        return holder() == Holder.NOBODY;
    }

    private enum Holder {
        RECORDER,
        NOBODY,
        UNKNOWN
    }

    private Holder holder() {
        Path file = path.resolve(LOCK);
        if (!Files.isRegularFile(file)) {
            return Holder.UNKNOWN; // opening a pipe would wait for its other end
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                FileLock ours = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return ours == null ? Holder.RECORDER : Holder.NOBODY;
        } catch (OverlappingFileLockException _) {
            return Holder.RECORDER; // in this process
        } catch (IOException _) {
            return Holder.UNKNOWN;
        }
    }

    /// What is there of the recording now, in its order.
    ///
    /// The recorder deletes a journal when the Parquet file is there. Journals are therefore listed first: of a row group
    /// that is finished meanwhile, the file is seen at least.
    public List<RowGroup> rowGroups() throws IOException {
        TreeSet<Integer> numbers = numbers(LiveFolder::journalNumber);
        TreeSet<Integer> finished = numbers(LiveFolder::segmentNumber);
        numbers.addAll(finished);
        return numbers.stream().map(number -> new RowGroup(number, finished.contains(number))).toList();
    }

    private TreeSet<Integer> numbers(Function<String, OptionalInt> numberOf) throws IOException {
        TreeSet<Integer> numbers = new TreeSet<>();
        try (Stream<Path> files = Files.list(path)) {
            files.forEach(file -> {
                OptionalInt number = numberOf.apply(String.valueOf(file.getFileName()));
                if (number.isPresent() && Files.isRegularFile(file)) {
                    numbers.add(number.getAsInt());
                }
            });
        }
        return numbers;
    }
}
