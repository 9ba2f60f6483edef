package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A profile of Nsight Systems, exported as SQLite or as a folder of Parquet files:
/// `nsys export --type sqlite|parquetdir profile.nsys-rep`.
///
/// Times are nanoseconds since the session began. `globalTid` has the process in bits 24 to 47 and the thread below.
/// Ranges are those of NVTX; what PyTorch's `emit_nvtx` writes are operators.
public final class NsysTrace {
    private static final String MAGIC = "SQLite format 3\0";
    private static final int PUSH_POP_RANGE = 59;
    private static final int START_END_RANGE = 60;
    private static final long ID = 0xff_ffff;
    private static final Map<Integer, String> COPIES = Map.of(1, "HtoD", 2, "DtoH", 8, "DtoD", 10, "PtoP");
    private static final List<String> MEMORY = List.of("Pageable", "Pinned", "Device");

    private final ProfileTables file;
    private final TraceSink sink;
    private final Map<String, Long> skipped = new LinkedHashMap<>();
    private @Nullable String damage;
    private @Nullable Long base;
    private boolean hasTexts;
    private long events;

    private NsysTrace(ProfileTables file, TraceSink sink) {
        this.file = file;
        this.sink = sink;
    }

    /// Whether it is a SQLite database, by its first bytes, or a folder with such tables.
    public static boolean isOne(Path file) {
        if (ParquetFolder.isOne(file)) {
            return true;
        }
        if (!Files.isRegularFile(file)) {
            return false; // opening a pipe would wait for its other end
        }
        try (InputStream stream = Files.newInputStream(file)) {
            return new String(stream.readNBytes(MAGIC.length()), StandardCharsets.ISO_8859_1).equals(MAGIC);
        } catch (IOException _) {
            return false; // opening it says why
        }
    }

    /// Hands the events that matter to `sink`.
    ///
    /// @throws RecordingException if it is no such profile
    static TraceHeader read(Path path, TraceSink sink, DuckDb duckDb) {
        try (ProfileTables file = Files.isDirectory(path) ? ParquetFolder.open(path, duckDb) : SqliteFile.open(path)) {
            return read(file, sink);
        }
    }

    /// Hands the events that matter to `sink`.
    static TraceHeader read(ProfileTables file, TraceSink sink) {
        return new NsysTrace(file, sink).read();
    }

    private TraceHeader read() {
        note(file.damage());
        boolean any = Stream.of(
                        "CUPTI_ACTIVITY_KIND_KERNEL",
                        "CUPTI_ACTIVITY_KIND_RUNTIME",
                        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                        "NVTX_EVENTS")
                .anyMatch(table -> !file.columns(table).isEmpty());
        if (!any) {
            throw new RecordingException(
                    "opening '" + file + "': no profile of Nsight Systems: it has no kernels, calls or ranges",
                    "nsys export --type sqlite profile.nsys-rep writes one");
        }
        hasTexts = !file.columns("StringIds").isEmpty();
        if (file.columns("TARGET_INFO_SESSION_START_TIME").contains("utcEpochNs")) {
            note(file.read("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", row -> base = row.integer(0)));
        }
        kernels();
        graphs();
        copies();
        fills();
        calls();
        ranges();
        return new TraceHeader(
                base, null, null, events, skipped, damage == null ? null : "damaged after " + events + " events: " + damage);
    }

    private void note(@Nullable String failure) {
        if (failure != null && damage == null) {
            damage = failure;
        }
    }

    /// Reads columns of a table; those that it lacks are NULL.
    ///
    /// @param text the column with the number of a text, which is `s.value`; empty if there is none
    /// @param condition what follows the tables
    private void rows(
            String table, String text, String condition, List<String> columns, ProfileTables.RowReader reader) {
        Set<String> known = file.columns(table);
        if (known.isEmpty()) {
            return;
        }
        boolean joins = hasTexts && known.contains(text);
        String list = columns.stream()
                .map(column -> column.equals("s.value")
                        ? joins ? column : "NULL"
                        : known.contains(column) ? "t.\"" + column + "\"" : "NULL")
                .collect(Collectors.joining(", "));
        String join = joins ? "LEFT JOIN StringIds AS s ON s.id = t." + text + " " : "";
        note(file.read("SELECT " + list + " FROM " + table + " AS t " + join + condition, row -> {
            events++;
            reader.read(row);
        }));
    }

    private void kernels() {
        Set<String> known = file.columns("CUPTI_ACTIVITY_KIND_KERNEL");
        String name = known.contains("demangledName") ? "demangledName" : "shortName";
        rows(
                "CUPTI_ACTIVITY_KIND_KERNEL",
                name,
                "",
                List.of("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "s.value", "gridX", "gridY",
                        "gridZ", "blockX", "blockY", "blockZ"),
                row -> {
                    @Nullable Long[] size = new @Nullable Long[6];
                    Arrays.setAll(size, i -> row.integer(7 + i));
                    activity(TracedEvent.Category.KERNEL, row, row.text(6), null, Arrays.asList(size));
                });
    }

    /// What a graph ran is one row, unless `--cuda-graph-trace=node` was given.
    private void graphs() {
        rows(
                "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                "",
                "",
                List.of("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId"),
                row -> activity(
                        TracedEvent.Category.KERNEL,
                        row,
                        row.integer(6) == null ? "CUDA graph" : "CUDA graph " + row.integer(6),
                        null,
                        Arrays.asList(new @Nullable Long[6])));
    }

    private void copies() {
        rows(
                "CUPTI_ACTIVITY_KIND_MEMCPY",
                "",
                "",
                List.of("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcKind",
                        "dstKind"),
                row -> {
                    Long kind = row.integer(7);
                    String name = "Memcpy " + COPIES.getOrDefault(kind == null ? 0 : kind.intValue(), "other") + " ("
                            + memory(row.integer(8)) + " -> " + memory(row.integer(9)) + ")";
                    activity(TracedEvent.Category.COPY, row, name, row.integer(6), Arrays.asList(new @Nullable Long[6]));
                });
    }

    private void fills() {
        rows(
                "CUPTI_ACTIVITY_KIND_MEMSET",
                "",
                "",
                List.of("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes"),
                row -> activity(
                        TracedEvent.Category.FILL, row, "Memset (Device)", row.integer(6), Arrays.asList(new @Nullable Long[6])));
    }

    private static String memory(@Nullable Long kind) {
        return kind != null && kind >= 0 && kind < MEMORY.size() ? MEMORY.get(kind.intValue()) : "Unknown";
    }

    /// A row begins with start, end, device, stream, correlation and process.
    private void activity(
            TracedEvent.Category category,
            ProfileTables.Row row,
            @Nullable String name,
            @Nullable Long bytes,
            List<@Nullable Long> size) {
        Long process = row.integer(5);
        emit(category, name, row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4), bytes, size,
                process == null ? null : process >> 24 & ID);
    }

    private void calls() {
        rows(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                "nameId",
                "",
                List.of("start", "end", "globalTid", "correlationId", "s.value"),
                row -> {
                    String name = row.text(4);
                    thread(TracedEvent.Category.CALL, name == null ? null : name.replaceFirst("_v\\d{4,}$", ""), row, row.integer(3));
                });
    }

    private void ranges() {
        Set<String> known = file.columns("NVTX_EVENTS");
        rows(
                "NVTX_EVENTS",
                "textId",
                known.contains("eventType")
                        ? "WHERE t.eventType IN (" + PUSH_POP_RANGE + ", " + START_END_RANGE + ")"
                        : "",
                List.of("start", "end", "globalTid", "text", "s.value"),
                row -> {
                    String text = row.text(3) == null ? row.text(4) : row.text(3);
                    // PyTorch's emit_nvtx: "aten::mm, op_id = 7, sizes = ...".
                    String name = text == null ? null : text.replaceFirst(", (op_id|seq) = .*$", "");
                    boolean operator = name != null && name.matches("(?s)\\w+::.*");
                    thread(operator ? TracedEvent.Category.OPERATOR : TracedEvent.Category.REGION, name, row, null);
                });
    }

    /// A row begins with start, end and thread.
    private void thread(
            TracedEvent.Category category, @Nullable String name, ProfileTables.Row row, @Nullable Long correlation) {
        Long thread = row.integer(2);
        emit(category, name, row.integer(0), row.integer(1), thread == null ? null : thread >> 24 & ID,
                thread == null ? null : thread & ID, correlation, null, Arrays.asList(new @Nullable Long[6]), null);
    }

    private void emit(
            TracedEvent.Category category,
            @Nullable String name,
            @Nullable Long start,
            @Nullable Long end,
            @Nullable Long owner,
            @Nullable Long lane,
            @Nullable Long correlation,
            @Nullable Long bytes,
            List<@Nullable Long> size,
            @Nullable Long process) {
        Long duration = start == null || end == null || end < start ? null : end - start;
        String flaw = TracedEvent.flaw(category, name, start, duration, owner);
        if (name == null || start == null || duration == null || flaw != null) {
            skipped.merge(String.valueOf(flaw), 1L, Long::sum);
        } else {
            sink.accept(new TracedEvent(
                    category, name, start, duration, owner, lane, correlation, bytes, size, process));
        }
    }
}
