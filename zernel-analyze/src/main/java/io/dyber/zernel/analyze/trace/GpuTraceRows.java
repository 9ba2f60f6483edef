package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.Nullable;

/// Tables of a trace's events, filled while it is read: what ran on GPUs, calls of CUDA, and names, which are few and long.
public final class GpuTraceRows implements KinetoTrace.Sink, AutoCloseable {
    /// What rows of a trace have beside the columns of a recording, all BIGINT.
    public static final List<String> COLUMNS = List.of("correlation", "launch_ns");

    /// Characters of names that are remembered; a name that comes again later is stored again.
    private static final int MOST_CHARACTERS = 4_000_000;
    /// Processes that are told apart, of which a trace has one or two.
    private static final int MOST_PROCESSES = 1000;

    private final DuckDBAppender activities;
    private final DuckDBAppender calls;
    private final DuckDBAppender names;
    private final Map<String, Long> known = new HashMap<>();
    private final Map<Long, Long> eventsByProcess = new HashMap<>();
    private long characters;
    private long lastName;
    private long activityCount;
    private long callCount;

    private GpuTraceRows(DuckDBAppender activities, DuckDBAppender calls, DuckDBAppender names) {
        this.activities = activities;
        this.calls = calls;
        this.names = names;
    }

    /// Makes the tables `<prefix>_activities`, `<prefix>_calls` and `<prefix>_names`.
    static GpuTraceRows in(DuckDb duckDb, String prefix) {
        duckDb.execute("CREATE TABLE " + prefix + "_activities (kind VARCHAR, name BIGINT, ts_ns BIGINT, dur_ns BIGINT, "
                + "device BIGINT, stream BIGINT, correlation BIGINT, bytes BIGINT, grid_x BIGINT, grid_y BIGINT, "
                + "grid_z BIGINT, block_x BIGINT, block_y BIGINT, block_z BIGINT)");
        duckDb.execute("CREATE TABLE " + prefix + "_calls (name BIGINT, ts_ns BIGINT, tid BIGINT, correlation BIGINT)");
        duckDb.execute("CREATE TABLE " + prefix + "_names (id BIGINT, name VARCHAR)");
        try {
            DuckDBConnection connection = duckDb.connection().unwrap(DuckDBConnection.class);
            return new GpuTraceRows(
                    connection.createAppender(prefix + "_activities"),
                    connection.createAppender(prefix + "_calls"),
                    connection.createAppender(prefix + "_names"));
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    @Override
    public void accept(KinetoEvent event) {
        try {
            switch (event.category()) {
                case KERNEL -> activity("gpu_kernel", event);
                case COPY -> activity("gpu_memcpy", event);
                case FILL -> activity("gpu_memset", event);
                case CALL -> {
                    call(event);
                    process(event);
                }
                case HOST -> process(event);
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

    /// The process that the trace is of: the one with most events; null if none has any.
    @Nullable Long process() {
        return eventsByProcess.entrySet().stream()
                .max(Map.Entry.<Long, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    @Override
    public void close() {
        try (activities; calls; names) {
            known.clear();
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    private void activity(String kind, KinetoEvent event) throws SQLException {
        long name = nameOf(event);
        activities.beginRow().append(kind).append(name).append(event.start()).append(event.duration());
        activities.append(event.owner()).append(event.lane()).append(event.correlation()).append(event.bytes());
        for (Long size : event.size()) {
            activities.append(size);
        }
        activities.endRow();
        activityCount++;
    }

    private void call(KinetoEvent event) throws SQLException {
        long name = nameOf(event);
        calls.beginRow().append(name).append(event.start()).append(event.lane()).append(event.correlation()).endRow();
        callCount++;
    }

    private void process(KinetoEvent event) {
        Long process = event.owner();
        if (process != null && (eventsByProcess.size() < MOST_PROCESSES || eventsByProcess.containsKey(process))) {
            eventsByProcess.merge(process, 1L, Long::sum);
        }
    }

    private long nameOf(KinetoEvent event) throws SQLException {
        Long id = known.get(event.name());
        if (id != null) {
            return id;
        }
        if (characters > MOST_CHARACTERS) {
            known.clear();
            characters = 0;
        }
        characters += event.name().length();
        known.put(event.name(), ++lastName);
        names.beginRow().append(lastName).append(event.name()).endRow();
        return lastName;
    }
}
