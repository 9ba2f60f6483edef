package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.Footer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;

/// The files of a series beside its output `run.parquet`: `run-20261121T110000Z.parquet`, each called by the second (UTC)
/// at which it begins, so that their names are in the order of time.
///
/// Deletes the oldest of them, also those of earlier runs: only files of exactly such a name that end like a recording
/// and belong to whom the new ones belong to.
final class PartFiles {
    private static final DateTimeFormatter SECOND =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
    private static final int LARGEST_FOOTER = 1 << 26;

    private final ClaimedFolder folder;
    private final OptionalInt keep;
    private final String stem;
    private final String ending;
    private final Pattern names;
    private final Queue<String> notices = new ConcurrentLinkedQueue<>();

    /// @param keep how many files may stay; empty for all
    PartFiles(ClaimedFolder folder, OptionalInt keep) {
        String name = String.valueOf(folder.output().getFileName());
        int dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length();
        this.folder = folder;
        this.keep = keep;
        this.stem = name.substring(0, dot) + "-";
        this.ending = name.substring(dot);
        this.names = Pattern.compile(Pattern.quote(stem) + "\\d{8}T\\d{6}Z(_\\d{1,4})?" + Pattern.quote(ending));
    }

    boolean isOne(String name) {
        return names.matcher(name).matches();
    }

    /// A name that no file has and that is not among the reserved: with `_2` behind the time when that is taken.
    String free(long epochNanos, Set<String> reserved) throws IOException {
        String time = stem + SECOND.format(Instant.ofEpochSecond(0, epochNanos));
        String name = time + ending;
        for (int i = 2; reserved.contains(name) || folder.parent().attributes(name).isPresent(); i++) {
            name = time + "_" + i + ending;
        }
        return name;
    }

    /// Deletes the oldest files that are more than are to be kept.
    void prune() throws IOException {
        if (keep.isPresent()) {
            delete(Integer.MAX_VALUE, keep.getAsInt());
        }
    }

    /// Something that may find the disk full.
    interface Step<T> {
        T run() throws IOException;
    }

    /// Does it, and again as long as the disk is full and an old file can be given up for it: in a series that keeps the
    /// last files the newest events matter most. One finished file stays in any case.
    <T> T withRoom(Step<T> step) throws IOException {
        while (true) {
            try {
                return step.run();
            } catch (IOException e) {
                boolean full = OutputException.of("", e).reason() == OutputException.Reason.NO_SPACE;
                List<String> deleted = full && keep.isPresent() ? delete(1, 1) : List.of();
                if (deleted.isEmpty()) {
                    throw e;
                }
                notices.add("the disk is full: deleted " + deleted.getFirst());
            }
        }
    }

    /// A line for the user about a file that was made, or deleted because the disk was full.
    Optional<String> takeNotice() {
        return Optional.ofNullable(notices.poll());
    }

    void notice(String line) {
        notices.add(line);
    }

    /// Deletes the oldest, so many at most, and none of the newest `spared`.
    private synchronized List<String> delete(int most, int spared) throws IOException {
        List<String> files = new ArrayList<>();
        for (String name : folder.parent().names()) {
            if (isOne(name) && isOurs(name)) {
                files.add(name);
            }
        }
        List<String> old = files.subList(0, Math.clamp(files.size() - spared, 0, most));
        for (String name : old) {
            folder.parent().delete(name);
        }
        return old;
    }

    private boolean isOurs(String name) throws IOException {
        Optional<PosixFileAttributes> attributes = folder.parent().attributes(name);
        return attributes.isPresent() && attributes.get().isRegularFile()
                && folder.isOwnedLike(attributes.get()) && isRecording(name);
    }

    /// Whether the file ends like one that a recorder wrote. It is not parsed: it may be anybody's.
    private boolean isRecording(String name) throws IOException {
        try (FileChannel file = folder.parent().read(name)) {
            ByteBuffer tail = ByteBuffer.allocate(2 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            int _ = file.read(tail, Math.max(0, file.size() - tail.capacity()));
            int length = tail.getInt(0);
            if (!Arrays.equals(tail.array(), Integer.BYTES, tail.capacity(), MAGIC, 0, MAGIC.length)
                    || length < 0 || length > Math.min(LARGEST_FOOTER, file.size() - tail.capacity())) {
                return false;
            }
            ByteBuffer footer = ByteBuffer.allocate(length);
            int _ = file.read(footer, file.size() - tail.capacity() - length);
            return new String(footer.array(), StandardCharsets.ISO_8859_1).contains(Footer.FORMAT);
        }
    }
}
