package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.AttachedRecording;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// What ran on a process's GPUs by a trace of PyTorch's profiler, as rows of the recording of that process.
///
/// Rows have the kinds `gpu_kernel`, `gpu_memcpy` and `gpu_memset`; `dur_ns` is GPU execution time, `pid` the process that
/// launched them, `tid` NULL. The footer key `zernel.gpu_traces` tells where they came from.
public final class GpuTrace {
    /// The kinds of its rows.
    static final List<String> KINDS = List.of("gpu_kernel", "gpu_memcpy", "gpu_memset");

    /// What only what ran on GPUs has.
    private static final List<String> COLUMNS = List.of("correlation", "launch_ns");

    /// The year 2001: what is before that is no time of day.
    private static final long FIRST_MOMENT_NANOS = 1_000_000_000_000_000_000L;
    /// The profiler's and the recorder's time of day: NTP corrects it meanwhile.
    private static final long CLOCKS_DIFFER_NANOS = 10_000_000;
    private static final long MOST_CLOCKS_DIFFER_NANOS = 1_000_000_000;
    private static final JsonMapper JSON = JsonMapper.shared();

    private final LoadedTrace trace;
    private final Path path;
    private final String table;
    private final TraceHeader header;
    private final @Nullable Long process;
    private final long activities;
    private final DuckDb duckDb;

    /// @param trace which belongs to this one from here on
    public GpuTrace(LoadedTrace trace, DuckDb duckDb) {
        this.trace = trace;
        this.path = trace.path();
        this.table = trace.table();
        this.header = trace.header();
        this.process = trace.process();
        this.activities = trace.activities();
        this.duckDb = duckDb;
    }

    /// A process in one of several recordings.
    private record Owner(int position, long pid) {}

    /// Puts its rows into the recording of its process.
    ///
    /// @throws RecordingException if none of the recordings has it
    public void joinOneOf(List<AttachedRecording> recordings) {
        long base = header.base() == null ? 0 : header.base();
        Table.Row span = duckDb.query("SELECT min(ts_ns) + ? AS first_ns, max(ts_ns + dur_ns) + ? AS last_ns FROM "
                        + table + "_activities", base, base)
                .only();
        if (activities > 0 && span.integer("first_ns") < FIRST_MOMENT_NANOS) {
            throw new RecordingException(
                    "opening '" + path + "': its times have no date, so they cannot be compared with a recording's",
                    "PyTorch 2.3 and newer write baseTimeNanoseconds");
        }
        requireOneProcess();
        Owner owner = owner(recordings, span);
        AttachedRecording recording = recordings.get(owner.position());
        if (activities > 0) {
            requireUnknown(recording, owner.pid(), span);
        }
        ObjectNode about = trace.about(owner.pid());
        AttachedRecording.Relation rows = null;
        if (activities > 0) {
            GpuTraceClock clock = clock(recording, owner.pid(), base);
            rows = rows(owner.pid(), base + clock.shiftNanos());
            about.put("started_ns", span.integer("first_ns") + clock.shiftNanos());
            about.put("ended_ns", span.integer("last_ns") + clock.shiftNanos());
            about.put("clock", clock.matched() > 0 ? "calls" : "time of day");
            about.put("shift_ns", clock.shiftNanos());
            about.put("error_ns", clock.errorNanos());
            about.put("matched", clock.matched());
        }
        recordings.set(owner.position(), recording.with(rows, activities, metadata(recording.recording(), about)));
    }

    private void requireOneProcess() {
        long processes = duckDb.query("SELECT count(DISTINCT pid) AS n FROM (SELECT pid FROM " + table
                        + "_activities UNION ALL SELECT pid FROM " + table + "_calls)")
                .only()
                .integer("n");
        if (processes > 1) {
            throw new RecordingException(
                    "opening '" + path + "': it is of " + processes + " processes, and only traces of one join a recording",
                    "it is read alone: zernel-analyze report " + path);
        }
    }

    /// What ran is there once, or it would count twice.
    private void requireUnknown(AttachedRecording recording, long pid, Table.Row span) {
        boolean known = recording.relations().stream().anyMatch(relation -> duckDb.query(
                        "SELECT count(*) > 0 AS found FROM (SELECT 1 FROM " + relation.sql()
                                + " WHERE kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset') AND pid = ?"
                                + " AND ts_ns BETWEEN ? AND ? LIMIT 1)",
                        pid, span.integer("first_ns"), span.integer("last_ns"))
                .only()
                .flag("found"));
        if (known) {
            throw new RecordingException(
                    "opening '" + path + "': what ran on the GPUs of process " + pid + " at that time is known already",
                    "leave out the trace, or what was recorded with --gpu-activity");
        }
    }

    private Owner owner(List<AttachedRecording> recordings, Table.Row span) {
        List<Owner> owners = new ArrayList<>();
        for (int i = 0; i < recordings.size(); i++) {
            if (process != null && has(recordings.get(i), process, span)) {
                owners.add(new Owner(i, process));
            }
        }
        for (int i = 0; owners.isEmpty() && header.rank() != null && i < recordings.size(); i++) {
            // In a container the profiler knows its process by another number.
            Long pid = ofRank(recordings.get(i), header.rank());
            if (pid != null && has(recordings.get(i), pid, span)) {
                owners.add(new Owner(i, pid));
            }
        }
        if (process == null && header.rank() == null) {
            throw new RecordingException(
                    "opening '" + path + "': it names no process", "torch.profiler writes one with export_chrome_trace");
        }
        if (owners.size() != 1) {
            throw new RecordingException(
                    "opening '" + path + "': " + (owners.isEmpty() ? "no recording has" : owners.size() + " recordings have")
                            + " its process" + (process == null ? "" : " " + process)
                            + (header.rank() == null ? "" : " (rank " + header.rank() + ")")
                            + (activities > 0 ? " at that time" : ""),
                    "give it with the recording of the same run");
        }
        return owners.getFirst();
    }

    /// Whether a process has events while the trace has activities: its number may have been another's before.
    private boolean has(AttachedRecording recording, long pid, Table.Row span) {
        long first = activities == 0 ? 0 : span.integer("first_ns") - MOST_CLOCKS_DIFFER_NANOS;
        long last = activities == 0 ? Long.MAX_VALUE : span.integer("last_ns") + MOST_CLOCKS_DIFFER_NANOS;
        return recording.relations().stream().anyMatch(relation -> duckDb.query(
                        "SELECT count(*) > 0 AS found FROM (SELECT 1 FROM " + relation.sql()
                                + " WHERE pid = ? AND ts_ns BETWEEN ? AND ? LIMIT 1)", pid, first, last)
                .only()
                .flag("found"));
    }

    private static @Nullable Long ofRank(AttachedRecording recording, long rank) {
        for (JsonNode info : parsed(recording.recording(), Footer.PROCESSES, JSON.createArrayNode())) {
            if (info.path("environment").path("RANK").asString("").equals(Long.toString(rank))) {
                return info.path("pid").asLong(0);
            }
        }
        return null;
    }

    private GpuTraceClock clock(AttachedRecording recording, long pid, long base) {
        JsonNode clock = parsed(recording.recording(), Footer.CLOCK, JSON.createObjectNode());
        JsonNode overhead = parsed(recording.recording(), Footer.OVERHEAD, JSON.createObjectNode());
        long window = Math.min(
                MOST_CLOCKS_DIFFER_NANOS,
                CLOCKS_DIFFER_NANOS + clock.path("error_ns").asLong(0) + Math.abs(clock.path("wall_step_ns").asLong(0)));
        String recorded = recording.relations().stream()
                .map(relation -> "SELECT " + GpuTraceClock.operation("name") + " AS name, ts_ns FROM " + relation.sql()
                        + " WHERE pid = " + pid + " AND (starts_with(kind, 'cuda_') OR starts_with(kind, 'gpu_'))")
                .collect(Collectors.joining(" UNION ALL "));
        duckDb.execute("CREATE TEMP TABLE recorded_calls AS " + recorded);
        duckDb.execute("CREATE TEMP TABLE traced_calls AS SELECT " + GpuTraceClock.operation("names.name")
                + " AS name, ts_ns + " + base + " AS ts_ns FROM " + table
                + "_calls AS calls JOIN " + table + "_names AS names ON names.id = calls.name");
        try {
            return GpuTraceClock.measure(window, overhead.path("cost_ns_per_hit").asLong(0), duckDb);
        } finally {
            duckDb.execute("DROP TABLE recorded_calls");
            duckDb.execute("DROP TABLE traced_calls");
        }
    }

    private AttachedRecording.Relation rows(long pid, long offset) {
        duckDb.execute("CREATE TABLE " + table + "_launches AS SELECT correlation, min(ts_ns) AS ts_ns FROM " + table
                + "_calls WHERE correlation IS NOT NULL GROUP BY correlation");
        duckDb.execute("DROP TABLE " + table + "_calls");
        duckDb.execute(
                """
                CREATE VIEW %1$s AS
                SELECT
                    activities.kind,
                    names.name,
                    activities.ts_ns + %3$d AS ts_ns,
                    activities.dur_ns,
                    CAST(%2$d AS BIGINT) AS pid,
                    activities.device,
                    activities.stream,
                    activities.bytes,
                    activities.grid_x,
                    activities.grid_y,
                    activities.grid_z,
                    activities.block_x,
                    activities.block_y,
                    activities.block_z,
                    %4$s AS copy_kind,
                    %5$s AS host_memory,
                    activities.correlation,
                    launches.ts_ns + %3$d AS launch_ns
                FROM %1$s_activities AS activities
                JOIN %1$s_names AS names ON names.id = activities.name
                LEFT JOIN %1$s_launches AS launches ON launches.correlation = activities.correlation
                """
                        .formatted(
                                table,
                                pid,
                                offset,
                                TraceTables.COPY_KIND.formatted("activities", "names"),
                                TraceTables.HOST_MEMORY.formatted("activities", "names")));
        return AttachedRecording.Relation.of(table, duckDb);
    }

    private static Map<String, String> metadata(Recording recording, ObjectNode about) {
        Map<String, String> metadata = new LinkedHashMap<>(recording.metadata());
        metadata.remove(Footer.THREADS); // They do not count what the trace adds.
        ArrayNode traces = (ArrayNode) parsed(recording, AttachedRecording.GPU_TRACES, JSON.createArrayNode());
        metadata.put(AttachedRecording.GPU_TRACES, traces.add(about).toString());
        ObjectNode schema = (ObjectNode) parsed(recording, Footer.SCHEMA, JSON.createObjectNode());
        ArrayNode kinds = schema.withArray("kinds");
        for (String kind : KINDS) {
            List<String> columns = new ArrayList<>(List.of("device", "stream"));
            columns.addAll(kind.equals("gpu_kernel")
                    ? List.of("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
                    : List.of("bytes", "copy_kind", "host_memory"));
            columns.addAll(COLUMNS);
            ObjectNode one = kinds.addObject().put("kind", kind).put("comment", "by PyTorch's profiler, GPU execution time");
            one.set("columns", JSON.valueToTree(columns));
        }
        metadata.put(Footer.SCHEMA, schema.toString());
        return metadata;
    }

    /// A footer's value of the type of `otherwise`, which stands for what is missing or wrong.
    private static JsonNode parsed(Recording recording, String key, JsonNode otherwise) {
        try {
            JsonNode value = JSON.readTree(recording.metadata().getOrDefault(key, "null"));
            return value.getNodeType() == otherwise.getNodeType() ? value : otherwise;
        } catch (JacksonException _) {
            return otherwise;
        }
    }
}
