package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.duckdb.DuckDBResultSet;

/// The view `events` of an opened recording, read forwards in windows of time that hold about as many rows as fit comfortably in memory:
/// a recording is ordered by thread, so only a window at a time is ever sorted by time.
final class TimeWindows {
    private static final long ROWS_PER_WINDOW = 200_000;
    private static final int ROWS_PER_ARROW_BATCH = 8192;

    private final Connection connection;
    private final BufferAllocator allocator;
    private final String columns;
    private final long rows;
    private final long firstNanos;
    private long lastNanos;
    private final long windowNanos;
    private long nextWindow;
    private boolean ended;

    TimeWindows(Connection connection, BufferAllocator allocator) throws IOException {
        this.connection = connection;
        this.allocator = allocator;
        try (Statement statement = connection.createStatement()) {
            this.columns = knownColumns(statement);
            try (ResultSet result = statement.executeQuery("SELECT min(ts_ns), max(ts_ns), count(*) FROM events")) {
                result.next();
                this.firstNanos = result.getLong(1);
                this.lastNanos = result.getLong(2);
                this.rows = result.getLong(3);
            }
        } catch (SQLException e) {
            throw new IOException("reading events: " + e.getMessage(), e);
        }
        // As unsigned numbers: a file may claim times that lie further apart than a long can say.
        this.windowNanos = Long.divideUnsigned(lastNanos - firstNanos, rows / ROWS_PER_WINDOW + 1);
        rewind();
    }

    boolean isEmpty() {
        return rows == 0;
    }

    /// The start of the first event; meaningless when there is none.
    long firstNanos() {
        return firstNanos;
    }

    /// The start of the last event; meaningless when there is none.
    long lastNanos() {
        return lastNanos;
    }

    /// Leaves out what starts later; at least the first event stays.
    void endAt(long untilNanos) {
        lastNanos = Math.clamp(untilNanos, firstNanos, lastNanos);
    }

    void rewind() {
        nextWindow = firstNanos;
        ended = false;
    }

    boolean hasNext() {
        return rows > 0 && !ended;
    }

    /// Gives the next window's events to `sink`, by start, in batches of a few thousand; a window may have none.
    void readNext(Consumer<ArrowRows> sink) throws IOException {
        ended = Long.compareUnsigned(lastNanos - nextWindow, windowNanos) <= 0;
        long last = ended ? lastNanos : nextWindow + windowNanos;
        String sql = "SELECT " + columns + " FROM events WHERE ts_ns BETWEEN " + nextWindow + " AND " + last
                + " ORDER BY ts_ns";
        nextWindow = last + 1;
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql);
                ArrowReader reader = (ArrowReader)
                        result.unwrap(DuckDBResultSet.class).arrowExportStream(allocator, ROWS_PER_ARROW_BATCH)) {
            ArrowRows batch = new ArrowRows(reader.getVectorSchemaRoot(), reader);
            while (reader.loadNextBatch()) {
                sink.accept(batch);
            }
        } catch (SQLException e) {
            throw new IOException("reading events: " + e.getMessage(), e);
        }
    }

    private static String knownColumns(Statement statement) throws SQLException {
        Set<String> present = new HashSet<>();
        try (ResultSet result = statement.executeQuery("DESCRIBE SELECT * FROM events")) {
            while (result.next()) {
                present.add(result.getString(1));
            }
        }
        return Stream.concat(
                        Arrays.stream(LongColumn.values()).map(LongColumn::column),
                        Arrays.stream(TextColumn.values()).map(TextColumn::column))
                .filter(present::contains)
                .map(name -> '"' + name + '"')
                .collect(Collectors.joining(", "));
    }
}
