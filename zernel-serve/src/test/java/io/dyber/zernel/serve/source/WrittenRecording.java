package io.dyber.zernel.serve.source;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.stream.Collectors;

/// Writes small recordings for tests, as the recorder does: ordered by thread, then time.
public final class WrittenRecording {
    private WrittenRecording() {}

    /// Writes the rows of `select`, which has at least the columns kind, ts_ns and tid.
    public static Path write(Path file, String select) {
        return write(file, select, Map.of());
    }

    /// The same with these keys of the footer.
    public static Path write(Path file, String select, Map<String, String> footer) {
        String keys = footer.isEmpty() ? "" : footer.entrySet().stream()
                .map(entry -> "'" + entry.getKey() + "': '" + entry.getValue() + "'")
                .collect(Collectors.joining(", ", ", KV_METADATA {", "}"));
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            statement.execute("COPY (SELECT * FROM (" + select + ") ORDER BY tid, ts_ns) TO '" + file
                    + "' (FORMAT parquet, COMPRESSION zstd" + keys + ")");
            return file;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A training process 4242 ("python3") with `steps` steps of 100 ms each from `startNanos`: 30 ms waiting for
    /// data, 40 ms backward, 10 ms optimizer, 20 ms nothing known; and beside it a worker 4243 that reads 1000 bytes
    /// a step at a known line and waits 5 ms in futex.
    public static Path training(Path file, long startNanos, int steps) {
        return write(file, """
                SELECT e.kind, e.name, %d + 100000000 * i + e.later AS ts_ns, e.dur_ns, e.pid, e.tid, e.comm, e.bytes,
                       CAST(NULL AS BIGINT) AS count,
                       CASE WHEN kind = 'io' THEN '<module> (/job/train.py:9);load (/job/data.py:7)' END AS stack
                FROM range(%d) AS r(i), (VALUES
                    ('region', 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__',
                        0, 30000000, 4242, 4242, 'python3', NULL),
                    ('backward', 'Engine::execute', 40000000, 40000000, 4242, 4242, 'python3', NULL),
                    ('region', 'Optimizer.step#AdamW.step', 90000000, 10000000, 4242, 4242, 'python3', NULL),
                    ('io', 'read', 1000000, 200000, 4243, 4243, 'pt_data_worker', 1000),
                    ('wait', 'futex', 50000000, 5000000, 4243, 4243, 'pt_data_worker', NULL)
                ) AS e(kind, name, later, dur_ns, pid, tid, comm, bytes)
                """.formatted(startNanos, steps));
    }
}
