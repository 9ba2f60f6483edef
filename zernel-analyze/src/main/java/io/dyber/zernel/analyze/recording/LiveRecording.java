package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.FooterFile;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;

/// A [LiveFolder] as a recording: row groups that are finished, and the journals of those that are not.
public final class LiveRecording {
    private static final int ATTEMPTS = 3;
    private static final long LARGEST_DESCRIPTION = 1 << 26;

    private LiveRecording() {}

    /// Attaches the folder as it is now. A recorder that lives may finish a segment meanwhile and delete its journal:
    /// then the folder is listed again.
    public static AttachedRecording attach(Path folder, int index, DuckDb duckDb, long fromNanos) {
        for (int attempt = 1; ; attempt++) {
            try {
                return attachOnce(new LiveFolder(folder), index, duckDb, fromNanos, attempt);
            } catch (RecordingException e) {
                if (!(e.getCause() instanceof NoSuchFileException) || attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static AttachedRecording attachOnce(
            LiveFolder folder, int index, DuckDb duckDb, long fromNanos, int attempt) {
        List<LiveFolder.RowGroup> groups = rowGroups(folder);
        List<Path> segments = segments(folder, groups, duckDb, fromNanos);
        List<AttachedRecording.Relation> relations = new ArrayList<>();
        if (!segments.isEmpty()) {
            String list = segments.stream().map(DuckDb::pathLiteral).collect(Collectors.joining(", "));
            relations.add(
                    AttachedRecording.Relation.of("read_parquet([" + list + "], union_by_name = true)", duckDb));
        }
        boolean truncated = false;
        for (LiveFolder.RowGroup group : groups) {
            if (group.finished()) {
                continue;
            }
            String table = "journal_" + index + "_" + relations.size() + "_" + attempt;
            Journal.Extent extent = Journal.load(folder.journal(group.number()), table, duckDb, fromNanos);
            truncated |= extent != Journal.Extent.WHOLE;
            if (extent != Journal.Extent.NOTHING) {
                relations.add(AttachedRecording.Relation.of(table, duckDb));
            }
        }
        if (relations.isEmpty()) {
            throw new RecordingException(
                    "opening '" + folder.path() + "': no events were saved in it",
                    folder.isHeld()
                            ? "it is being recorded: try again in a second"
                            : "its recorder died before it saved anything");
        }
        return new AttachedRecording(
                new Recording(
                        index,
                        folder.path(),
                        Recording.State.UNFINISHED,
                        rows(relations, duckDb),
                        metadata(folder.description()),
                        note(folder, truncated)),
                relations);
    }

    private static List<LiveFolder.RowGroup> rowGroups(LiveFolder folder) {
        try {
            return folder.rowGroups();
        } catch (IOException e) {
            throw new RecordingException("listing '" + folder.path() + "': " + e.getMessage(), null, e);
        }
    }

    private static String note(LiveFolder folder, boolean truncated) {
        if (folder.isHeld()) {
            return "still being recorded: this is what it holds so far";
        }
        return "its recorder died; to make it one file: zernel-record recover " + folder.output()
                + (truncated ? "; the last batch is incomplete and left out" : "");
    }

    /// The row groups that may have events from `fromNanos` on. They follow each other in time: the first without such, seen
    /// from the end, is the last that is looked at.
    private static List<Path> segments(
            LiveFolder folder, List<LiveFolder.RowGroup> groups, DuckDb duckDb, long fromNanos) {
        List<Path> all = groups.stream()
                .filter(LiveFolder.RowGroup::finished)
                .map(group -> folder.segment(group.number()))
                .toList();
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

    private static long rows(List<AttachedRecording.Relation> relations, DuckDb duckDb) {
        long rows = 0;
        for (AttachedRecording.Relation relation : relations) {
            rows += duckDb.query("SELECT count(*) AS n FROM " + relation.sql()).only().integer("n");
        }
        return rows;
    }

    private static Map<String, String> metadata(Path file) {
        try {
            boolean known = Files.isRegularFile(file) && Files.size(file) <= LARGEST_DESCRIPTION;
            return known ? FooterFile.read(Files.readAllBytes(file)) : Map.of();
        } catch (JacksonException e) {
            throw new RecordingException("reading '" + file + "': " + e.getOriginalMessage(), null, e);
        } catch (IOException e) {
            throw new RecordingException("reading '" + file + "': " + e.getMessage(), null, e);
        }
    }
}
