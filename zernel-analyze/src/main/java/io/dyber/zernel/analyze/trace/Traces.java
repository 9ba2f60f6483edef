package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.recording.AttachedRecording;
import io.dyber.zernel.analyze.recording.Series;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Opens traces: each beside the recording of its process, or, where there are no recordings, as one of its own. Those of
/// one process that follow each other, such as the cycles of a profiler's schedule, are then one.
public final class Traces {
    private Traces() {}

    /// Whether a file is a trace, by its first bytes.
    public static boolean isOne(Path file) {
        return KinetoTrace.isOne(file) || NsysTrace.isOne(file);
    }

    /// Puts traces into recordings, or adds them to an empty list of these.
    ///
    /// @param first the number of the first trace among what is opened
    public static void open(List<Path> paths, int first, List<AttachedRecording> recordings, DuckDb duckDb) {
        boolean alone = recordings.isEmpty();
        List<LoadedTrace> traces = load(paths, first, alone, duckDb);
        List<AttachedRecording> opened = new ArrayList<>();
        for (int i = 0; i < traces.size(); i++) {
            if (alone) {
                opened.add(TraceRecording.of(traces.get(i), first + i, duckDb));
            } else {
                new GpuTrace(traces.get(i), duckDb).joinOneOf(recordings);
            }
        }
        // A query that opens no trace starts no parser of JSON.
        if (!opened.isEmpty()) {
            recordings.addAll(Series.joined(opened));
        }
    }

    /// Reads them, as many at a time as there are processors.
    private static List<LoadedTrace> load(List<Path> paths, int first, boolean alone, DuckDb duckDb) {
        int threads = Math.clamp(paths.size(), 1, Runtime.getRuntime().availableProcessors());
        try (ExecutorService readers = Executors.newFixedThreadPool(threads)) {
            List<Future<LoadedTrace>> reading = new ArrayList<>();
            for (int i = 0; i < paths.size(); i++) {
                int index = first + i;
                Path path = paths.get(i);
                reading.add(readers.submit(() -> LoadedTrace.load(path, index, alone, duckDb)));
            }
            List<LoadedTrace> traces = new ArrayList<>();
            for (Future<LoadedTrace> one : reading) {
                traces.add(one.get());
            }
            return traces;
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw new IllegalStateException(e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading traces", e);
        }
    }
}
