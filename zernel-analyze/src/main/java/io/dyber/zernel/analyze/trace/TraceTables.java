package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.Nullable;

/// Tables of a trace's events, filled while it is read:
///
/// - `<prefix>_activities`: what ran on GPUs,
/// - `<prefix>_calls`: calls of CUDA,
/// - `<prefix>_spans`: ranges and operators of the CPU, if they are wanted,
/// - `<prefix>_functions`: functions of Python that take some time, if those are wanted,
/// - `<prefix>_names`: names, which are few and long.
///
/// Not thread-safe; several may be filled at a time, each from a thread of its own.
final class TraceTables implements TraceSink, AutoCloseable {
    /// Characters of names that are remembered; a name that comes again later is stored again.
    private static final int MOST_CHARACTERS = 4_000_000;
    /// Processes that are told apart, of which a trace has one or two.
    private static final int MOST_PROCESSES = 1000;
    private static final long SHORTEST_FUNCTION_NANOS = 20_000;
    private static final Pattern PYTHON_CODE = Pattern.compile(".+\\(\\d+\\): .+");
    private static final String BUILT_IN = "<built-in ";
    private static final Pattern OBJECT = Pattern.compile("( of type)? object at 0x[0-9a-f]+");

    /// Of what ran on a GPU, from where to where it copied, in SQL over `kind` and `name` of a relation each.
    static final String COPY_KIND = """
            CASE %1$s.kind
                WHEN 'gpu_memset' THEN 'memset'
                WHEN 'gpu_memcpy' THEN nullif(regexp_extract(%2$s.name, '^Memcpy (\\w+)', 1), '')
            END""";

    /// The same for the memory of the host that it copied from or to.
    static final String HOST_MEMORY = """
            CASE %1$s.kind
                WHEN 'gpu_memcpy' THEN lower(nullif(regexp_extract(%2$s.name, 'Pinned|Pageable'), ''))
            END""";

    private final boolean wantsSpans;
    private final DuckDBConnection connection;
    private final DuckDBAppender activities;
    private final DuckDBAppender calls;
    private final DuckDBAppender spans;
    private final DuckDBAppender functions;
    private final DuckDBAppender names;
    private final Map<String, Long> known = new HashMap<>();
    private final Map<Long, Long> eventsByProcess = new HashMap<>();
    private long characters;
    private long lastName;
    private long activityCount;
    private long callCount;
    private long spanCount;
    private long functionCount;

    private TraceTables(DuckDBConnection connection, String prefix, boolean wantsSpans) throws SQLException {
        this.wantsSpans = wantsSpans;
        this.connection = connection;
        this.activities = connection.createAppender(prefix + "_activities");
        this.calls = connection.createAppender(prefix + "_calls");
        this.spans = connection.createAppender(prefix + "_spans");
        this.functions = connection.createAppender(prefix + "_functions");
        this.names = connection.createAppender(prefix + "_names");
    }

    /// Makes the tables.
    ///
    /// @param wantsSpans whether ranges, operators and functions of the CPU are kept
    static TraceTables in(DuckDb duckDb, String prefix, boolean wantsSpans) {
        try {
            DuckDBConnection connection =
                    duckDb.connection().unwrap(DuckDBConnection.class).duplicate();
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE " + prefix + "_activities (kind VARCHAR, name BIGINT, ts_ns BIGINT, "
                        + "dur_ns BIGINT, device BIGINT, stream BIGINT, correlation BIGINT, bytes BIGINT, grid_x BIGINT, "
                        + "grid_y BIGINT, grid_z BIGINT, block_x BIGINT, block_y BIGINT, block_z BIGINT, pid BIGINT)");
                statement.execute("CREATE TABLE " + prefix
                        + "_calls (name BIGINT, ts_ns BIGINT, dur_ns BIGINT, pid BIGINT, tid BIGINT, correlation BIGINT)");
                statement.execute("CREATE TABLE " + prefix
                        + "_spans (kind VARCHAR, name BIGINT, ts_ns BIGINT, dur_ns BIGINT, pid BIGINT, tid BIGINT)");
                statement.execute("CREATE TABLE " + prefix
                        + "_functions (name BIGINT, ts_ns BIGINT, dur_ns BIGINT, pid BIGINT, tid BIGINT)");
                statement.execute("CREATE TABLE " + prefix + "_names (id BIGINT, name VARCHAR)");
            }
            return new TraceTables(connection, prefix, wantsSpans);
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    @Override
    public void accept(TracedEvent event) {
        try {
            switch (event.category()) {
                case KERNEL -> activity("gpu_kernel", event);
                case COPY -> activity("gpu_memcpy", event);
                case FILL -> activity("gpu_memset", event);
                case CALL -> {
                    call(event);
                    process(event);
                }
                case REGION -> span("region", event);
                case OPERATOR -> span("torch_op", event);
                case FUNCTION -> function(event);
            }
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    /// What ran on GPUs.
    long activityCount() {
        return activityCount;
    }

    /// Calls of CUDA.
    long callCount() {
        return callCount;
    }

    /// Ranges and operators that were kept.
    long spanCount() {
        return spanCount;
    }

    /// Functions of Python that the profiler followed, the short ones too.
    long functionCount() {
        return functionCount;
    }

    /// Events on the CPU by process.
    Map<Long, Long> eventsByProcess() {
        return Map.copyOf(eventsByProcess);
    }

    /// The process that the trace is of: the one with most events; null if none has any.
    @Nullable Long process() {
        return eventsByProcess.entrySet().stream()
                .max(Map.Entry.<Long, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    @Override
    public void close() {
        try (connection;
                activities;
                calls;
                spans;
                functions;
                names) {
            known.clear();
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    private void activity(String kind, TracedEvent event) throws SQLException {
        long name = nameOf(event.name());
        activities.beginRow().append(kind).append(name).append(event.start()).append(event.duration());
        activities.append(event.owner()).append(event.lane()).append(event.correlation()).append(event.bytes());
        for (Long size : event.size()) {
            activities.append(size);
        }
        activities.append(event.process()).endRow();
        activityCount++;
    }

    private void call(TracedEvent event) throws SQLException {
        long name = nameOf(event.name());
        calls.beginRow().append(name).append(event.start()).append(event.duration());
        calls.append(event.owner()).append(event.lane()).append(event.correlation()).endRow();
        callCount++;
    }

    private void span(String kind, TracedEvent event) throws SQLException {
        process(event);
        if (wantsSpans) {
            long name = nameOf(event.name());
            spans.beginRow().append(kind).append(name).append(event.start()).append(event.duration());
            spans.append(event.owner()).append(event.lane()).endRow();
            spanCount++;
        }
    }

    /// Those of Python code, which say where they are: `train.py(88): log_loss`, and those built in: `<built-in method read of
    /// _io.FileIO>`, of whatever object. What is short is part of what calls it.
    private void function(TracedEvent event) throws SQLException {
        functionCount++;
        if (!wantsSpans || event.duration() < SHORTEST_FUNCTION_NANOS) {
            return;
        }
        boolean builtIn = event.name().startsWith(BUILT_IN);
        if (builtIn || PYTHON_CODE.matcher(event.name()).matches()) {
            long name = nameOf(builtIn ? OBJECT.matcher(event.name()).replaceAll("") : event.name());
            functions.beginRow().append(name).append(event.start()).append(event.duration());
            functions.append(event.owner()).append(event.lane()).endRow();
        }
    }

    private void process(TracedEvent event) {
        Long process = event.owner();
        if (process != null && (eventsByProcess.size() < MOST_PROCESSES || eventsByProcess.containsKey(process))) {
            eventsByProcess.merge(process, 1L, Long::sum);
        }
    }

    private long nameOf(String text) throws SQLException {
        Long id = known.get(text);
        if (id != null) {
            return id;
        }
        if (characters > MOST_CHARACTERS) {
            known.clear();
            characters = 0;
        }
        characters += text.length();
        known.put(text, ++lastName);
        names.beginRow().append(lastName).append(text).endRow();
        return lastName;
    }
}
