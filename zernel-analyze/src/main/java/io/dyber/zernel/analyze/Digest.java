package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.DigestColumns;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A recording's digest: one small Parquet file with the rows of the views that say `digest: kept`, and of the findings that
/// need events. Opened again, all else is computed from these, over as many recordings as there are.
///
/// Its one table has a column `part` with the view's or finding's name, and the columns of all of them; columns of one name
/// and type are one. Of the footer it has what says where and when, which processes trained, and which columns a part has.
public final class Digest {
    /// Ends the name of a digest's file.
    public static final String SUFFIX = ".digest.parquet";

    private static final List<String> FOOTER_KEYS =
            List.of(Footer.FORMAT, Footer.RECORDING, Footer.CLOCK, Footer.GPUS, Footer.SIMULATION);
    /// Of a process, what is not needed to tell one from another.
    private static final List<String> LEFT_OUT = List.of("exe", "cmdline");
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Database database;
    private final DigestColumns columns = new DigestColumns();
    private final List<Footer.DigestPart> parts = new ArrayList<>();
    private final List<String> selects = new ArrayList<>();
    private final Map<String, String> skipped = new TreeMap<>();
    private final @Nullable Window window;

    /// The part of a recording that is digested, nanoseconds since the epoch.
    public record Window(long fromNanos, long toNanos) {}

    private Digest(Database database, @Nullable Window window) {
        this.database = database;
        this.window = window;
    }

    /// Writes the digest of what is open, which is one recording.
    ///
    /// @throws RecordingException if it cannot be written, or nothing can be computed
    public static void write(Database database, Path file) {
        write(database, file, null);
    }

    /// Writes the digest of what is open, which is a window of one recording that is being written: its footer says which.
    ///
    /// @throws RecordingException if it cannot be written, or nothing can be computed
    public static void write(Database database, Path file, @Nullable Window window) {
        Recording recording = database.recordings().getFirst();
        if (database.isOfDigests()) {
            throw new RecordingException("digesting '" + recording.path() + "': it is a digest already", null);
        }
        if (database.recordings().size() > 1) {
            throw new IllegalArgumentException("a digest is of one recording");
        }
        database.requireEvents();
        new Digest(database, window).write(file);
    }

    private void write(Path file) {
        for (SqlObject object : database.library().objects()) {
            if (object.isKept()) {
                keep(object.name(), object.name());
            } else if (object.role() == SqlObject.Role.FINDING && !database.library().isOfDigests(object)) {
                keepFinding(object);
            }
        }
        // A filter for each of hundreds of columns, which nobody looks for single values in, would be a fifth of the file.
        long _ = database.write("COPY (" + String.join("\nUNION ALL BY NAME\n", selects) + ") TO " + DuckDb.literal(file.toString())
                + " (FORMAT parquet, COMPRESSION zstd, WRITE_BLOOM_FILTER false, KV_METADATA {" + footer() + "})");
    }

    private void keepFinding(SqlObject finding) {
        String table = "_kept_" + finding.name();
        try {
            Table _ = database.query(finding, "CREATE OR REPLACE TEMP TABLE " + table + " AS " + finding.statement());
            keep(finding.name(), table);
        } catch (RecordingException e) {
            skipped.put(finding.name(), String.valueOf(e.getMessage()));
        }
    }

    private void keep(String name, String relation) {
        List<String> kept = new ArrayList<>();
        StringBuilder select = new StringBuilder("SELECT " + DuckDb.literal(name) + " AS part");
        for (Table.Row row : database.query("DESCRIBE FROM " + relation).rows()) {
            DigestColumns.Column column = columns.next(row.requiredText("column_name"), row.requiredText("column_type"));
            kept.add(column.text());
            if (!column.name().equals("recording")) {
                select.append(", CAST(" + DuckDb.identifier(column.name()) + " AS " + column.stored() + ") AS " + DuckDb.identifier(column.place()));
            }
        }
        parts.add(new Footer.DigestPart(name, kept));
        selects.add(select + " FROM " + relation);
    }

    private String footer() {
        Recording recording = database.recordings().getFirst();
        Map<String, String> footer = new HashMap<>(recording.metadata());
        footer.keySet().retainAll(FOOTER_KEYS);
        String processes = recording.metadata().get(Footer.PROCESSES);
        if (processes != null) {
            footer.put(Footer.PROCESSES, ranks(processes));
        }
        Window part = window;
        if (part != null) {
            footer.computeIfPresent(Footer.RECORDING, (_, about) -> about(about, part));
        }
        String of = String.valueOf(recording.path().getFileName());
        footer.put(Footer.DIGEST, Footer.json(new Footer.Digest(Footer.Digest.CURRENT_FORMAT, of, parts, skipped)));
        return footer.entrySet().stream()
                .map(entry -> DuckDb.literal(entry.getKey()) + ": " + DuckDb.literal(entry.getValue()))
                .collect(Collectors.joining(", "));
    }

    /// Of a recording that is being written, what its footer would be if it had begun and ended with the window.
    private String about(String whole, Window part) {
        ObjectNode about = JSON.readTree(whole).asObject();
        long lost = database.query("SELECT count(*) AS n FROM events WHERE kind = 'lost'").only().integer("n");
        ObjectNode cut = about.putObject("cut");
        cut.put("of", String.valueOf(database.recordings().getFirst().path().getFileName()));
        cut.put("from_ns", part.fromNanos()).put("to_ns", part.toNanos());
        cut.putArray("kinds");
        cut.putArray("pids");
        about.put("started_ns", Math.max(part.fromNanos(), about.path("started_ns").asLong(Long.MIN_VALUE)));
        about.put("ended_ns", part.toNanos());
        about.put("events", database.rows());
        about.put("complete", lost == 0);
        about.putArray("incomplete_because");
        if (lost > 0) {
            about.withArray("incomplete_because").add("events were lost");
        }
        about.remove("series");
        return about.toString();
    }

    /// The processes that train or call others of their job.
    private String ranks(String processes) {
        Set<Long> pids = new HashSet<>();
        database.query("SELECT pid FROM training_threads UNION SELECT pid FROM _ranked").rows().forEach(row -> pids.add(row.integer("pid")));
        ArrayNode kept = JSON.createArrayNode();
        for (JsonNode process : JSON.readTree(processes)) {
            if (process instanceof ObjectNode object && pids.contains(process.path("pid").asLong(-1))) {
                kept.add(object.remove(LEFT_OUT));
            }
        }
        return kept.toString();
    }
}
