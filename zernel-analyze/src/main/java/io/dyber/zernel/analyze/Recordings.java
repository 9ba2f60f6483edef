package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.recording.AttachedRecording;
import io.dyber.zernel.analyze.recording.DigestFooters;
import io.dyber.zernel.analyze.recording.Digests;
import io.dyber.zernel.analyze.recording.LiveRecording;
import io.dyber.zernel.analyze.recording.ParquetRecording;
import io.dyber.zernel.analyze.recording.Series;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.trace.Traces;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Opens recordings as one [Database].
///
/// An argument is a finished `run.parquet`, a glob, a folder of recordings, or a `run.parquet.live` folder that a
/// recorder is still writing or left behind. Of a folder with recordings and their digests, the recordings are opened; of
/// one with digests of other recordings, unless more of its recordings have no digest, the digests are, and what else is
/// there is left out and told. Several recordings become one table `events`; its column `recording` tells them apart. The
/// files of a rotating recording are one. A trace of PyTorch's profiler (`.json` or `.json.gz`) adds what ran on the GPU to
/// the recording of its process. A file that is named twice is opened once.
public final class Recordings {
    private Recordings() {}

    /// Starts in a thread of its own what opening with default options needs: that takes as long as reading a command line.
    /// [#closeAhead] has to follow.
    public static void openAhead() {
        DuckDb.openAhead();
    }

    /// Ends what [#openAhead] started and nobody opened.
    public static void closeAhead() {
        DuckDb.closeAhead();
    }

    /// Opens recordings with default options.
    ///
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static Database open(String... arguments) {
        return open(List.of(arguments), DatabaseOptions.defaults());
    }

    /// Opens recordings, in the order of the arguments.
    ///
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static Database open(List<String> arguments, DatabaseOptions options) {
        return open(arguments, options, SqlLibrary.builtIn());
    }

    /// Opens recordings with a library of views and findings other than the built-in one.
    public static Database open(List<String> arguments, DatabaseOptions options, SqlLibrary library) {
        if (arguments.isEmpty()) {
            throw new IllegalArgumentException("nothing to open");
        }
        return openSides(List.of(arguments), options, library);
    }

    /// Opens two jobs side by side, for a [Diff], with default options.
    ///
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static Database compare(String before, String after) {
        return compare(before, after, DatabaseOptions.defaults(), SqlLibrary.builtIn());
    }

    /// Opens two jobs side by side, for a [Diff].
    ///
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static Database compare(String before, String after, DatabaseOptions options, SqlLibrary library) {
        return openSides(List.of(List.of(before), List.of(after)), options, library);
    }

    /// Opens recordings for queries of others ([GuardedQuery]): from then on none reaches another file, or changes a setting.
    ///
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static Database openConfined(List<String> arguments) {
        return confined(List.of(arguments));
    }

    /// Opens two jobs side by side, for a [Diff], as [#openConfined] does one.
    ///
    /// @throws RecordingException if one is missing, damaged or not a recording
    public static Database compareConfined(List<String> before, List<String> after) {
        return confined(List.of(before, after));
    }

    private static Database confined(List<List<String>> sides) {
        Database database = openSides(sides, DatabaseOptions.defaults(), SqlLibrary.builtIn());
        try {
            List<String> arguments = sides.stream().flatMap(List::stream).toList();
            database.duckDb().confine(paths(arguments, sides.size() == 1, database.duckDb()));
            return database;
        } catch (RuntimeException | Error e) {
            database.close();
            throw e;
        }
    }

    /// No recording: all views are there, and empty.
    public static Database none(SqlLibrary library) {
        return new Database(DuckDb.open(DatabaseOptions.defaults()), List.of(), library, DatabaseOptions.ALL);
    }

    /// Digests of which only the footers are at hand: views that are made of these are there, and no others.
    public static Database open(DigestFooters footers) {
        return new Database(DuckDb.open(DatabaseOptions.defaults()), footers.withoutRows(), SqlLibrary.builtIn());
    }

    /// The files that arguments mean, those of one rotating recording together.
    ///
    /// @throws RecordingException if one is missing, or no Parquet file
    public static List<List<String>> series(List<String> arguments) {
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            Map<String, List<String>> series = new LinkedHashMap<>();
            for (Path path : paths(arguments, false, duckDb)) {
                String id = Files.isDirectory(path) ? "" : ParquetRecording.seriesOf(path, duckDb);
                series.computeIfAbsent(id.isEmpty() ? path.toString() : id, _ -> new ArrayList<>()).add(path.toString());
            }
            return List.copyOf(series.values());
        }
    }

    private static Database openSides(List<List<String>> sides, DatabaseOptions options, SqlLibrary library) {
        DuckDb duckDb = DuckDb.open(options);
        try {
            List<AttachedRecording> attached = new ArrayList<>();
            int opened = 0;
            for (int side = 0; side < sides.size(); side++) {
                List<Path> paths = paths(sides.get(side), sides.size() == 1, duckDb);
                if (sides.size() == 1) {
                    Optional<Digests> digests = Digests.open(paths, 0, duckDb);
                    if (digests.isPresent()) {
                        return new Database(duckDb, digests.get(), library);
                    }
                }
                List<AttachedRecording> files = new ArrayList<>();
                for (Path path : paths) {
                    if (!Traces.isOne(path)) {
                        files.add(attach(path, opened++, duckDb, options.fromNanos()));
                    }
                }
                List<Path> traces = paths.stream().filter(Traces::isOne).toList();
                // One file needs no parser of JSON, which takes as long to start as a query.
                List<AttachedRecording> recordings = files.size() == 1 ? files : Series.joined(files);
                Traces.open(traces, opened, recordings, duckDb);
                opened += traces.size();
                for (AttachedRecording recording : recordings) {
                    attached.add(recording.on(side, attached.size()));
                }
            }
            return new Database(duckDb, attached, library, options.fromNanos());
        } catch (RuntimeException | Error e) {
            duckDb.close();
            throw e;
        }
    }

    /// The files that arguments mean, each once.
    ///
    /// @param digests whether they may be digests
    private static List<Path> paths(List<String> arguments, boolean digests, DuckDb duckDb) {
        Map<Path, Path> paths = new LinkedHashMap<>();
        for (String argument : arguments) {
            resolve(argument, digests, duckDb).forEach(path -> paths.putIfAbsent(path.toAbsolutePath().normalize(), path));
        }
        return List.copyOf(paths.values());
    }

    private static AttachedRecording attach(Path path, int index, DuckDb duckDb, long fromNanos) {
        return Files.isDirectory(path)
                ? LiveRecording.attach(path, index, duckDb, fromNanos)
                : ParquetRecording.attach(path, index, duckDb);
    }

    private static List<Path> resolve(String argument, boolean digests, DuckDb duckDb) {
        Path path = Path.of(argument);
        Path live = LiveFolder.of(path).path();
        if (Files.isDirectory(path)) {
            return LiveFolder.isOne(path) || Traces.isOne(path) ? List.of(path) : matches(argument + "/*.parquet", digests, duckDb);
        }
        if (Files.exists(path)) {
            return List.of(path);
        }
        if (LiveFolder.isOne(live)) {
            return List.of(live);
        }
        if (argument.matches(".*[*?\\[].*")) {
            return matches(argument, digests, duckDb);
        }
        throw new RecordingException("opening '" + argument + "': no such file", howToMake(argument));
    }

    private static String howToMake(String name) {
        if (name.endsWith(".parquet")) {
            return "record one: sudo zernel-record -o " + (name.contains(" ") ? "'" + name + "'" : name);
        }
        return name.matches(".*\\.json(\\.gz)?")
                ? "torch.profiler writes a trace: profile.export_chrome_trace('" + name + "')"
                : "recordings end in .parquet, traces of PyTorch's profiler in .json or .json.gz, of Nsight Systems in .sqlite";
    }

    private static List<Path> matches(String glob, boolean digests, DuckDb duckDb) {
        List<Path> paths = duckDb.query("SELECT file FROM glob(?) ORDER BY file", glob).texts("file").stream()
                .map(Path::of)
                .toList();
        if (paths.isEmpty()) {
            throw new RecordingException("opening '" + glob + "': no file matches", null);
        }
        Set<String> recordings = new LinkedHashSet<>();
        Set<String> digested = new HashSet<>();
        for (Path path : paths) {
            String file = path.toString();
            if (file.endsWith(Digest.SUFFIX)) {
                digested.add(file.substring(0, file.length() - Digest.SUFFIX.length()) + ".parquet");
            } else {
                recordings.add(file);
            }
        }
        // Digests that lie beside the recordings that they are of say nothing more.
        long ofOthers = digested.stream().filter(file -> !recordings.contains(file)).count();
        long withoutDigest = recordings.stream().filter(file -> !digested.contains(file)).count();
        boolean wanted = digests && ofOthers > 0 && ofOthers >= withoutDigest;
        return recordings.isEmpty() || wanted ? paths : recordings.stream().map(Path::of).toList();
    }
}
