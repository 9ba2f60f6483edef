package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.duckdb.DuckDBResultSet;
import org.jspecify.annotations.Nullable;

/// The view `events` of an opened recording, read forwards in windows of time with about as many rows as are sorted
/// comfortably in memory: a recording is ordered by thread, so only a window at a time is ever sorted by time. A window
/// with fewer rows than a row group would have that decoded again and again.
final class TimeWindows implements AutoCloseable {
    private static final long ROWS_PER_WINDOW = 1_000_000;
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
    private final StringCache words = new StringCache();
    private @Nullable Window window;

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
            throw unreadable(e);
        }
        // As unsigned numbers: a file may claim times that lie further apart than a long can say.
        this.windowNanos = Long.divideUnsigned(lastNanos - firstNanos, rows / ROWS_PER_WINDOW + 1);
        this.nextWindow = firstNanos;
        this.ended = rows == 0;
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

    void rewind() throws IOException {
        close();
        nextWindow = firstNanos;
        ended = rows == 0;
    }

    /// The next events, a few thousand, by start; empty at the end.
    Optional<EventBatch> next() throws IOException {
        try {
            while (window != null || !ended) {
                if (window == null) {
                    window = new Window(connection, nextSql(), allocator, words);
                }
                if (!window.reader.loadNextBatch()) {
                    close();
                } else if (window.events.rows() > 0) {
                    return Optional.of(window.events.read());
                }
            }
            return Optional.empty();
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    private String nextSql() {
        ended = Long.compareUnsigned(lastNanos - nextWindow, windowNanos) <= 0;
        long last = ended ? lastNanos : nextWindow + windowNanos;
        String sql = "SELECT " + columns + " FROM events WHERE ts_ns BETWEEN " + nextWindow + " AND " + last
                + " ORDER BY ts_ns";
        nextWindow = last + 1;
        return sql;
    }

    @Override
    public void close() throws IOException {
        if (window != null) {
            Window open = window;
            window = null;
            open.close();
        }
    }

    /// The window that is being read.
    private static final class Window implements AutoCloseable {
        private final Statement statement;
        final ArrowReader reader;
        final ArrowRows events;

        Window(Connection connection, String sql, BufferAllocator allocator, StringCache words)
                throws SQLException, IOException {
            this.statement = connection.createStatement();
            this.reader = (ArrowReader) statement.executeQuery(sql)
                    .unwrap(DuckDBResultSet.class)
                    .arrowExportStream(allocator, ROWS_PER_ARROW_BATCH);
            this.events = new ArrowRows(reader.getVectorSchemaRoot(), reader, words);
        }

        @Override
        public void close() throws IOException {
            try (statement) { // its result is closed with it
                reader.close();
            } catch (SQLException e) {
                throw unreadable(e);
            }
        }
    }

    private static IOException unreadable(SQLException e) {
        return new IOException("reading events: " + e.getMessage(), e);
    }

    /// Waits have many different objects, of which no metric is made.
    private static String expression(String column) {
        return column.equals(TextColumn.OBJECT.column())
                ? "CASE WHEN kind = 'gpu_sample' THEN object END AS object"
                : '"' + column + '"';
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
                .map(TimeWindows::expression)
                .collect(Collectors.joining(", "));
    }
}
