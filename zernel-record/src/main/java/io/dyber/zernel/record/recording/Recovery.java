package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.journal.JournalReader;
import io.dyber.zernel.record.parquet.RowGroup;
import io.dyber.zernel.record.parquet.SegmentWriter;
import io.dyber.zernel.record.recording.OutputException.Reason;
import io.dyber.zernel.record.schema.Column;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/// Turns what a crashed recorder left in `output.live` into the final file.
public final class Recovery {
    /// What was recovered.
    ///
    /// @param events events in the recovered file
    /// @param segments row groups that were complete
    /// @param journalEvents events that came from journals
    /// @param kept where the earlier recording of the same name is now
    public record Result(Path output, long events, int segments, long journalEvents, Optional<Path> kept) {}

    private static final String BECAUSE =
            "the recorder ended without finishing; what it had not written by then is missing";
    private static final Comparator<String> BY_NUMBER =
            Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());
    private static final int LARGEST_ROW_GROUP = 1 << 23;
    private static final int LARGEST_DESCRIPTION = 1 << 26;

    private final ClaimedFolder folder;
    private final PartFiles files;
    private Optional<List<Column>> columns = Optional.empty();
    private long journalEvents;

    private Recovery(ClaimedFolder folder) {
        this.folder = folder;
        this.files = new PartFiles(folder, OptionalInt.empty());
    }

    /// Recovers `output` (also accepted: `output.live`). The `.live` folder is removed only after the file is safe.
    public static Result recover(Path output) {
        Path file = LiveFolder.hasName(output) ? new LiveFolder(output).output() : output;
        try (ClaimedFolder folder = Claim.adopt(file)) {
            return new Recovery(folder).run();
        } catch (IOException e) {
            throw OutputException.of("recovering '" + file + "'", e);
        }
    }

    private Result run() throws IOException {
        Map<String, String> known = RecoveredFooter.known(content(LiveFolder.DESCRIPTION));
        String target = target(known);
        for (String name : folder.names()) {
            if (name.endsWith(".tmp")) {
                folder.delete(name);
            }
        }
        int complete = segments().size();
        for (String name : folder.names()) {
            OptionalInt number = LiveFolder.journalNumber(name);
            if (number.isPresent()) {
                encode(name, number.getAsInt());
            }
        }
        publishParts();
        if (segments().isEmpty()) {
            writeEmpty();
        }
        Segments.Published file =
                Segments.join(
                        folder,
                        segments(),
                        target,
                        (rows, last) -> RecoveredFooter.of(known, rows, last, BECAUSE));
        folder.remove();
        Path output = folder.output();
        return new Result(
                output.resolveSibling(target), file.events(), complete, journalEvents, file.kept().map(output::resolveSibling));
    }

    /// The name of the file to write: in a series, of a part. A file of that name that is no older than the folder may be
    /// the recording itself: its recorder was killed before it could remove the folder.
    private String target(Map<String, String> known) throws IOException {
        OptionalLong partBegan = RecoveredFooter.partBegan(known);
        if (partBegan.isPresent()) {
            return files.free(partBegan.getAsLong(), Set.of());
        }
        String name = String.valueOf(folder.output().getFileName());
        Optional<PosixFileAttributes> present = folder.parent().attributes(name);
        if (present.isPresent() && !folder.isYoungerThan(present.get())) {
            String hint = "move it away to recover again, or remove '" + folder.output() + LiveFolder.SUFFIX + "'";
            String message = "recovering '" + folder.output() + "': the file exists already";
            throw new OutputException(Reason.EXISTS, message, hint);
        }
        return name;
    }

    /// Finishes the parts that the recorder was about to publish.
    private void publishParts() throws IOException {
        for (String note : folder.names()) {
            if (PendingFile.isNote(note)) {
                PendingFile part = PendingFile.ofNote(content(note));
                if (!files.isOne(part.file())) {
                    throw new IOException("the note of a part names '" + part.file() + "'");
                }
                part.publish(folder, (rows, last) ->
                        rows == part.events() ? part.footer() : RecoveredFooter.of(part.footer(), rows, last, BECAUSE));
            }
        }
    }

    private List<String> segments() throws IOException {
        return folder.names().stream()
                .filter(name -> LiveFolder.segmentNumber(name).isPresent())
                .sorted(BY_NUMBER)
                .toList();
    }

    /// A journal whose segment exists is stale: the recorder was killed between renaming and deleting.
    private void encode(String journal, int number) throws IOException {
        if (folder.has(LiveFolder.segmentName(number))) {
            folder.delete(journal);
            return;
        }
        try (FileChannel file = folder.read(journal)) {
            Optional<JournalReader> reader = JournalReader.open(file);
            if (reader.isPresent()) {
                encode(reader.get(), number);
            }
        }
    }

    private void encode(JournalReader journal, int number) throws IOException {
        columns = Optional.of(journal.columns());
        RowGroup group = new RowGroup(journal.columns());
        for (Optional<Batch> batch = journal.next(); batch.isPresent(); batch = journal.next()) {
            group.append(batch.get());
            if (group.rows() > LARGEST_ROW_GROUP) {
                throw new IOException(LiveFolder.journalName(number) + " has more events than any recorder writes");
            }
        }
        journalEvents += group.rows();
        if (group.rows() > 0) {
            write(group, journal.texts(), number);
        }
    }

    private void writeEmpty() throws IOException {
        List<Column> known =
                columns.orElseThrow(
                        () -> {
                            String message = "recovering '" + folder.output() + "': there is nothing in it yet";
                            return new OutputException(Reason.DAMAGED, message, "remove the folder");
                        });
        write(new RowGroup(known), new StringDictionary(), 0);
    }

    private void write(RowGroup group, StringDictionary texts, int number) throws IOException {
        try (Segments segments = new Segments(folder, new SegmentWriter(group.columns(), texts), files)) {
            segments.write(group, number);
        }
    }

    private byte[] content(String name) throws IOException {
        if (!folder.has(name) || folder.size(name) > LARGEST_DESCRIPTION) {
            return new byte[0];
        }
        try (FileChannel file = folder.read(name)) {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(file.size()));
            while (bytes.hasRemaining() && file.read(bytes) >= 0) {
                // until all of it is here
            }
            return bytes.array();
        }
    }
}
