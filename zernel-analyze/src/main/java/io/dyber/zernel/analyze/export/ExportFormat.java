package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.function.LongConsumer;
import tools.jackson.core.exc.JacksonIOException;

/// What recordings are exported as.
///
/// @param option of the command `export`
/// @param description what help says of it
/// @param suffix what a file's name ends in, where none is given
/// @param content who writes it
public record ExportFormat(String option, String description, String suffix, Content content) {
    /// All formats, in the order of help.
    public static final List<ExportFormat> ALL = List.of(
            new ExportFormat("--perfetto", "Perfetto's own format: smaller, opens faster.", ".pftrace", new OfTrace<>(PerfettoTrace::new, Trace::write)),
            new ExportFormat("--chrome", "Chrome trace events (JSON); in OUT.gz compressed.", ".json.gz", new OfTrace<>(ChromeTrace::new, Trace::write)),
            new ExportFormat("--folded", "Folded stacks of host time, for flame graphs.", ".folded", new OfTrace<>((out, _) -> new FoldedStacks(out), FoldedStacks::write)),
            new ExportFormat("--csv", "The events, or a query's result, as CSV.", ".csv", TableFile.CSV),
            new ExportFormat("--parquet", "The same as Parquet; of one recording's events a recording again.", ".events.parquet", TableFile.PARQUET));

    /// What such a file holds.
    public sealed interface Content permits OfTrace, TableFile {}

    /// Slices and counters on tracks.
    public record OfTrace<F extends TraceFormat>(Factory<F> factory, Source<F> source) implements Content {
        /// Writes the selected events and returns how many there are.
        ///
        /// @param progress is told now and then how many events are written
        public long write(Database database, Selection selection, OutputFile file, LongConsumer progress) throws IOException {
            try (OutputStream out = file.open();
                    F format = factory.open(out, selection)) {
                return source.write(database, selection, format, progress);
            } catch (JacksonIOException e) {
                throw e.getCause(); // as formats without Jackson throw it
            }
        }
    }

    /// Opens a format on a stream.
    @FunctionalInterface
    interface Factory<F extends TraceFormat> {
        F open(OutputStream out, Selection selection) throws IOException;
    }

    /// What is written: a whole [Trace], or only its calls.
    @FunctionalInterface
    interface Source<F extends TraceFormat> {
        long write(Database database, Selection selection, F format, LongConsumer progress) throws IOException;
    }
}
