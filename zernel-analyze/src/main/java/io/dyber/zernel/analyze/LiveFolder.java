package io.dyber.zernel.analyze;

import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A `run.parquet.live` folder: row groups that are finished, and a journal of the events since.
final class LiveFolder {
    static final String SUFFIX = ".live";
    private static final int ATTEMPTS = 3;
    private static final long LARGEST_DESCRIPTION = 1 << 26;

    private LiveFolder() {}

    static boolean isOne(Path folder) {
        return Files.isDirectory(folder)
                && (folder.toString().endsWith(SUFFIX) || Files.exists(folder.resolve("meta.json")));
    }

    /// Attaches the folder as it is now. A recorder that lives may finish a segment meanwhile and delete its journal:
    /// then the folder is listed again.
    static AttachedRecording attach(Path folder, int index, DuckDb duckDb, long fromNanos) {
        for (int attempt = 1; ; attempt++) {
            try {
                return attachOnce(folder, index, duckDb, fromNanos, attempt);
            } catch (RecordingException e) {
                if (!(e.getCause() instanceof NoSuchFileException) || attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static AttachedRecording attachOnce(
            Path folder, int index, DuckDb duckDb, long fromNanos, int attempt) {
        List<Path> segments = segments(folder, duckDb, fromNanos);
        List<AttachedRecording.Relation> relations = new ArrayList<>();
        if (!segments.isEmpty()) {
            String list = segments.stream().map(DuckDb::pathLiteral).collect(Collectors.joining(", "));
            relations.add(
                    AttachedRecording.Relation.of("read_parquet([" + list + "], union_by_name = true)", duckDb));
        }
        boolean truncated = false;
        for (Path journal : files(folder, ".arrows")) {
            if (Files.exists(segmentOf(journal))) {
                continue; // the recorder had no time to delete it
            }
            String table = "journal_" + index + "_" + relations.size() + "_" + attempt;
            Journal.Extent extent = Journal.load(journal, table, duckDb, fromNanos);
            truncated |= extent != Journal.Extent.WHOLE;
            if (extent != Journal.Extent.NOTHING) {
                relations.add(AttachedRecording.Relation.of(table, duckDb));
            }
        }
        if (relations.isEmpty()) {
            throw new RecordingException(
                    "opening '" + folder + "': no events were saved in it",
                    isHeld(folder.resolve("lock"))
                            ? "it is being recorded: try again in a second"
                            : "its recorder died before it saved anything");
        }
        return new AttachedRecording(
                new Recording(
                        index,
                        folder,
                        Recording.State.UNFINISHED,
                        rows(relations, duckDb),
                        metadata(folder),
                        note(folder, truncated)),
                relations);
    }

    private static String note(Path folder, boolean truncated) {
        if (isHeld(folder.resolve("lock"))) {
            return "still being recorded: this is what it holds so far";
        }
        String file = folder.toString().substring(0, folder.toString().length() - SUFFIX.length());
        return "its recorder died; to make it one file: zernel-record recover " + file
                + (truncated ? "; the last batch is incomplete and left out" : "");
    }

    /// Whether a recorder lives: it holds an exclusive lock on the file.
    private static boolean isHeld(Path lock) {
        if (!Files.isRegularFile(lock)) {
            return false; // opening a pipe would wait for its other end
        }
        try (FileChannel channel = FileChannel.open(lock);
                FileLock shared = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return shared == null;
        } catch (OverlappingFileLockException _) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    /// The row groups that may have events from `fromNanos` on. They follow each other in time: the first without such, seen
    /// from the end, is the last that is looked at.
    private static List<Path> segments(Path folder, DuckDb duckDb, long fromNanos) {
        List<Path> all = files(folder, ".parquet");
        int first = fromNanos == DatabaseOptions.ALL ? 0 : Math.max(0, all.size() - 1);
        while (first > 0 && lastNanos(all.get(first - 1), duckDb) >= fromNanos) {
            first--;
        }
        return all.subList(first, all.size());
    }

    private static long lastNanos(Path segment, DuckDb duckDb) {
        return duckDb.query("SELECT coalesce(max(CAST(stats_max_value AS BIGINT)), " + Long.MAX_VALUE + ") AS last_ns"
                        + " FROM parquet_metadata(" + DuckDb.pathLiteral(segment) + ") WHERE path_in_schema = 'ts_ns'")
                .only()
                .integer("last_ns");
    }

    private static List<Path> files(Path folder, String suffix) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(suffix) && Files.isRegularFile(file))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new RecordingException("listing '" + folder + "': " + e.getMessage(), null, e);
        }
    }

    /// `journal-000018.arrows` holds what `000018.parquet` will.
    private static Path segmentOf(Path journal) {
        String name = String.valueOf(journal.getFileName());
        return journal.resolveSibling(name.replace("journal-", "").replace(".arrows", ".parquet"));
    }

    private static long rows(List<AttachedRecording.Relation> relations, DuckDb duckDb) {
        long rows = 0;
        for (AttachedRecording.Relation relation : relations) {
            rows += duckDb.query("SELECT count(*) AS n FROM " + relation.sql()).only().integer("n");
        }
        return rows;
    }

    private static Map<String, String> metadata(Path folder) {
        Path file = folder.resolve("meta.json");
        Map<String, String> metadata = new HashMap<>();
        try {
            if (!Files.isRegularFile(file) || Files.size(file) > LARGEST_DESCRIPTION) {
                return metadata;
            }
            for (Map.Entry<String, JsonNode> entry : new JsonMapper().readTree(file).properties()) {
                JsonNode value = entry.getValue();
                metadata.put(entry.getKey(), value.isString() ? value.stringValue() : value.toString());
            }
        } catch (JacksonException e) {
            throw new RecordingException("reading '" + file + "': " + e.getOriginalMessage(), null, e);
        } catch (IOException e) {
            throw new RecordingException("reading '" + file + "': " + e.getMessage(), null, e);
        }
        return metadata;
    }
}
