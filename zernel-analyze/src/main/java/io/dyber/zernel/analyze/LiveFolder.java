package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.file.Files;
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

    private LiveFolder() {}

    static boolean isOne(Path folder) {
        return Files.isDirectory(folder)
                && (folder.toString().endsWith(SUFFIX) || Files.exists(folder.resolve("meta.json")));
    }

    static AttachedRecording attach(Path folder, int index, DuckDb duckDb) {
        List<Path> segments = files(folder, ".parquet");
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
            String table = "journal_" + index + "_" + relations.size();
            truncated |= Journal.load(journal, table, duckDb);
            relations.add(AttachedRecording.Relation.of(table, duckDb));
        }
        if (relations.isEmpty()) {
            throw new RecordingException(
                    "opening '" + folder + "': no events were saved in it",
                    "if the recorder still runs, wait a second and try again");
        }
        return new AttachedRecording(
                new Recording(
                        index,
                        folder,
                        Recording.State.UNFINISHED,
                        rows(relations, duckDb),
                        metadata(folder),
                        note(truncated)),
                relations);
    }

    private static String note(boolean truncated) {
        return "not finished: the recorder is still writing, or it died (then: zernel-record recover)"
                + (truncated ? "; the last batch is incomplete and left out" : "");
    }

    private static List<Path> files(Path folder, String suffix) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
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
        if (!Files.exists(file)) {
            return metadata;
        }
        try {
            for (Map.Entry<String, JsonNode> entry : new JsonMapper().readTree(file).properties()) {
                JsonNode value = entry.getValue();
                metadata.put(entry.getKey(), value.isString() ? value.stringValue() : value.toString());
            }
        } catch (JacksonException e) {
            throw new RecordingException("reading '" + file + "': " + e.getOriginalMessage(), null, e);
        }
        return metadata;
    }
}
