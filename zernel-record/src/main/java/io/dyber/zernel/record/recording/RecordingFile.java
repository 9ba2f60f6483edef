package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.FooterFile;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.journal.Journal;
import io.dyber.zernel.record.journal.MessageBody;
import io.dyber.zernel.record.parquet.RowGroup;
import io.dyber.zernel.record.parquet.SegmentWriter;
import io.dyber.zernel.record.schema.Column;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/// The recording being written: a `.live` folder that survives a crash, then one Parquet file.
///
/// One thread calls it; [#events] and [#bytes] may be read by others. Every method throws [OutputException] when
/// the disk says no; what was written before stays, and [#finish] may still be tried.
public final class RecordingFile implements AutoCloseable {
    /// Who owns the files, when that is not the user running the recorder.
    public record Owner(int uid, int gid) {}

    /// How the recording is written.
    ///
    /// @param rowGroupRows most events in a segment, and so in a Parquet row group; memory grows with it
    /// @param keep files of a series that may stay, empty for all
    public record Options(int rowGroupRows, Optional<Owner> owner, OptionalInt keep) {
        private static final int MOST_ROWS = 1 << 19;
        private static final int FEWEST_ROWS = 1 << 15;
        /// Of all memory: rows are held twice, in a twentieth of it.
        private static final int BYTES_FOR_A_ROW = 4 << 10;

        public Options {
            if (rowGroupRows < 1) {
                throw new IllegalArgumentException("rowGroupRows " + rowGroupRows);
            }
        }

        public Options() {
            this(MOST_ROWS, Optional.empty());
        }

        /// How many rows a segment may have: fewer where this process's memory is limited to so many bytes.
        public static int rowsWithin(OptionalLong limit) {
            return limit.isEmpty()
                    ? MOST_ROWS
                    : Math.clamp(Long.highestOneBit(limit.getAsLong() / BYTES_FOR_A_ROW), FEWEST_ROWS, MOST_ROWS);
        }

        public Options(int rowGroupRows, Optional<Owner> owner) {
            this(rowGroupRows, owner, OptionalInt.empty());
        }

        public Options withOwner(Owner owner) {
            return new Options(rowGroupRows, Optional.of(owner), keep);
        }

        public Options keeping(OptionalInt files) {
            return new Options(rowGroupRows, owner, files);
        }
    }

    /// A place between two events at which a recording can be divided.
    ///
    /// @param events written before it
    public record CutPoint(int segment, long events) {}

    private final ClaimedFolder folder;
    private final List<Column> columns;
    private final StringDictionary texts;
    private final int rowGroupRows;
    private final PartFiles files;
    private final Segments segments;
    private final FilePublisher publications;
    private final MessageBody message = new MessageBody();
    private Journal journal;
    private RowGroup filling;
    private RowGroup spare;
    private int segment;
    private final AtomicLong events = new AtomicLong();
    private volatile long journalBytes;
    private boolean unwanted;
    private volatile long finalBytes;
    private CutPoint first = new CutPoint(0, 0);

    private RecordingFile(ClaimedFolder folder, List<Column> columns, StringDictionary texts, Options options) throws IOException {
        this.folder = folder;
        this.columns = List.copyOf(columns);
        this.texts = texts;
        this.rowGroupRows = options.rowGroupRows();
        this.filling = new RowGroup(this.columns);
        this.spare = new RowGroup(this.columns);
        this.files = new PartFiles(folder, options.keep());
        this.segments = new Segments(folder, new SegmentWriter(this.columns, texts), files);
        this.publications = new FilePublisher(folder, segments, files);
        this.journal = openJournal(segment);
        this.journalBytes = journal.bytes();
    }

    /// Claims `output`: makes `output.live`, which nobody may be using, and opens the first journal.
    public static RecordingFile create(Path output, List<Column> columns, StringDictionary texts, Options options) {
        ClaimedFolder folder = Claim.create(output, options.owner());
        try {
            return new RecordingFile(folder, columns, texts, options);
        } catch (IOException e) {
            folder.discard();
            throw OutputException.of("recording to '" + output + "'", e);
        }
    }

    /// Appends the events to the journal in one write. The batch may be cleared and reused after the return. Waits
    /// for the encoder when that is a whole row group behind.
    public void write(Batch batch) {
        if (batch.rows() == 0) {
            return;
        }
        try {
            if (!folder.has(LiveFolder.journalName(segment))) {
                throw new NoSuchFileException("the journal was removed");
            }
            files.withRoom(() -> {
                journal.append(batch);
                return journal;
            });
            filling.append(batch);
            events.addAndGet(batch.rows());
            if (filling.rows() >= rowGroupRows) {
                rotate();
            }
            journalBytes = journal.bytes();
        } catch (IOException e) {
            throw OutputException.of("writing '" + folder.output() + "'", e);
        }
    }

    /// Replaces the metadata that survives a crash.
    public void describe(Map<String, String> footer) {
        try {
            publications.check();
            writeMeta(footer);
        } catch (IOException e) {
            throw OutputException.of("writing '" + folder.output() + "'", e);
        }
    }

    private void writeMeta(Map<String, String> footer) throws IOException {
        files.withRoom(() -> {
            folder.replace(LiveFolder.DESCRIPTION, FooterFile.write(footer));
            return footer;
        });
    }

    /// Divides the recording here. Called by the thread that writes.
    public CutPoint cut() {
        try {
            rotate();
            return new CutPoint(segment, events.get());
        } catch (IOException e) {
            throw OutputException.of("writing '" + folder.output() + "'", e);
        }
    }

    /// Has everything up to the cut become a file of a series, in the background, and be there only. Waits for the
    /// file before, so that a series needs room for one file in the making and never for more.
    ///
    /// @param startedNanos when it began, which gives the file its name
    public void moveOut(CutPoint to, long startedNanos, Map<String, String> footer) {
        publish(to, startedNanos, true, footer);
        first = to;
    }

    /// Has everything up to the cut become a file, in the background, and stay here for more files. Waits for the file
    /// before.
    public void copyOut(CutPoint to, long startedNanos, Map<String, String> footer) {
        publish(to, startedNanos, false, footer);
    }

    private void publish(CutPoint to, long startedNanos, boolean moved, Map<String, String> footer) {
        try {
            String name = publications.free(startedNanos);
            publications.add(new PendingFile(
                    name, first.segment(), to.segment(), moved, to.events() - first.events(), footer));
        } catch (IOException e) {
            throw OutputException.of("writing '" + folder.output() + "'", e);
        }
    }

    /// Forgets everything before the cut.
    public void forget(CutPoint before) {
        publications.forget(first.segment(), before.segment());
        first = before;
    }

    /// A line for the user about a file of the series, or about the earlier recording, if there is one.
    public Optional<String> takeNotice() {
        return files.takeNotice();
    }

    /// Bytes that the events since the last [#moveOut] will take as a file, about.
    public long partBytes() {
        return Math.round((events.get() - first.events()) * segments.rowBytes());
    }

    /// Ends a series as [#finish] ends a single file, and returns the name of its last file.
    public Path finishSeries(long startedNanos, Map<String, String> footer) {
        try {
            String name = publications.free(startedNanos);
            finish(name, footer);
            return folder.output().resolveSibling(name);
        } catch (IOException e) {
            throw unfinished(e);
        }
    }

    /// Writes the final file with `footer` as its key-value metadata and removes the `.live` folder. A file that is at the
    /// output is kept under another name, which [#takeNotice] says. After an
    /// exception the folder holds everything for [Recovery].
    public void finish(Map<String, String> footer) {
        try {
            finish(String.valueOf(folder.output().getFileName()), footer);
        } catch (IOException e) {
            throw unfinished(e);
        }
    }

    private void finish(String name, Map<String, String> footer) throws IOException {
        segments.awaitAtAnyPrice();
        journal.close();
        if (filling.rows() > 0 || segment == first.segment()) {
            segments.encode(filling, segment++);
            segments.awaitAtAnyPrice();
        }
        publications.await();
        writeMeta(footer);
        List<String> names = Segments.names(folder, first.segment(), segment);
        Segments.Published file =
                files.withRoom(() -> Segments.join(folder, names, name, (_, _) -> footer));
        if (file.events() != events.get() - first.events()) {
            throw new IllegalStateException(file + " holds not all of " + events.get() + " events");
        }
        finalBytes = file.bytes();
        file.kept().ifPresent(kept ->
                files.notice("kept the earlier recording as " + folder.output().resolveSibling(kept)));
        files.prune();
        folder.remove();
    }

    /// The parts and the file that joins them need the space twice for a moment.
    private OutputException unfinished(IOException e) {
        OutputException exception = OutputException.of("finishing '" + folder.output() + "'", e);
        if (exception.reason() != OutputException.Reason.NO_SPACE) {
            return exception;
        }
        if (events.get() == 0) {
            discard();
            return new OutputException(exception.reason(), String.valueOf(exception.getMessage()), "there was no room for a single event", e);
        }
        long kept = events.get() - first.events() - segments.onlyInMemory();
        String lost = segments.onlyInMemory() == 0 ? "" : "%,d events are lost; ".formatted(segments.onlyInMemory());
        String hint = "%s%,d events are kept: free %,d MB, then run zernel-record recover %s"
                .formatted(lost, kept, (segments.bytes() >> 20) + 1, folder.output());
        return new OutputException(exception.reason(), String.valueOf(exception.getMessage()), hint, e);
    }

    /// Events written so far.
    public long events() {
        return events.get();
    }

    /// Bytes of the recording on disk so far; after [#finish] the size of the file.
    public long bytes() {
        return finalBytes > 0 ? finalBytes : segments.bytes() + journalBytes;
    }

    /// Gives up a recording that could not begin: [#close] then leaves nothing behind, and what was at the output
    /// stays as it is.
    public void discard() {
        unwanted = true;
    }

    /// Without [#finish] or [#discard] before: leaves the `.live` folder as a crash would.
    @Override
    public void close() {
        publications.close();
        segments.close();
        try (folder) {
            journal.close();
            if (unwanted) {
                folder.remove();
            }
        } catch (IOException e) {
            throw OutputException.of("closing '" + folder.output() + "'", e);
        }
    }

    /// Hands the full row group to the encoder and starts the next.
    private void rotate() throws IOException {
        segments.await();
        Journal full = journal;
        journal = files.withRoom(() -> openJournal(segment + 1));
        try (full) {
            files.withRoom(() -> {
                full.finish();
                return full;
            });
        }
        RowGroup next = spare;
        spare = filling;
        filling = next;
        segments.encode(spare, segment++);
    }

    private Journal openJournal(int number) throws IOException {
        String name = LiveFolder.journalName(number);
        folder.delete(name);
        FileChannel channel = folder.create(name);
        try {
            return new Journal(channel, columns, texts, number, message);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }
}
