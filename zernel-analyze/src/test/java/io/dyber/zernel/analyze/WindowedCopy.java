package io.dyber.zernel.analyze;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import java.util.stream.Collectors;

/// Makes of a recording of all calls one that holds detail in windows of time only, as the recorder writes it where
/// detail makes steps longer.
///
/// Shortly before and after a window, while its probes are attached and taken away, a third of the calls is there. A
/// release by PyTorch's allocator knows its bytes where the allocation is in the copy, too. The times are still those of
/// a recording that paid for detail all the time, so none of the files says what a call costs.
final class WindowedCopy {
    static final List<String> KINDS = List.of("cuda_launch", "torch_alloc", "torch_free");

    private static final long EDGE_NS = 20_000_000;
    private static final String FREE_OF_CHARGE =
            "{\"cost_ns_per_hit\":0,\"method\":\"not paid\",\"hits\":0,\"cpu_ns_total\":0,\"share\":0,\"processes\":[]}";

    private final Path full;

    WindowedCopy(Path full) {
        this.full = full;
    }

    /// A time with detail, in nanoseconds.
    record Window(long startNs, long endNs) {
        String json() {
            return "{\"start_ns\":" + startNs + ",\"end_ns\":" + endNs + ",\"reason\":\"turn\",\"complete\":true}";
        }

        String around(long ns) {
            return "ts_ns BETWEEN " + (startNs - ns) + " AND " + (endNs + ns);
        }
    }

    /// As many windows as asked for, as long, spread over a time, their edges anywhere in steps.
    static List<Window> windows(long startNs, long endNs, int count, long lengthNs) {
        List<Window> windows = new ArrayList<>();
        long period = (endNs - startNs) / count;
        for (int i = 0; i < count; i++) {
            long start = startNs + i * period + (period - lengthNs) * (3 + 2 * (i % 3)) / 10;
            windows.add(new Window(start, start + lengthNs));
        }
        return windows;
    }

    /// The recording as it is, without what it says of its cost.
    Path whole(Path target) {
        return write(target, "SELECT * FROM read_parquet(" + quote(full) + ")", null);
    }

    /// The recording with the end of one launch in 16.
    Path withFewEnds(Path target) {
        String sql = "SELECT * EXCLUDE (file_row_number) REPLACE (CASE WHEN kind <> 'cuda_launch' OR file_row_number % 16 = 0 "
                + "THEN dur_ns END AS dur_ns) FROM read_parquet(" + quote(full) + ", file_row_number = true)";
        return write(target, sql, null);
    }

    /// The recording with detail in windows only.
    Path write(Path target, List<Window> windows) {
        String inside = any(windows, 0);
        String kept = "(kind NOT IN (" + KINDS.stream().map(WindowedCopy::quote).collect(Collectors.joining(", ")) + ") OR "
                + inside + " OR (" + any(windows, EDGE_NS) + " AND hash(ts_ns, tid) % 3 = 0))";
        String sql = "WITH numbered AS (SELECT *, file_row_number, " + kept + " AS kept FROM read_parquet(" + quote(full)
                + ", file_row_number = true)), allocations AS (SELECT *, last_value(CASE WHEN kind = 'torch_alloc' THEN kept "
                + "WHEN kind = 'torch_free' THEN NULL END IGNORE NULLS) OVER (PARTITION BY pid, kind LIKE 'torch\\_%' ESCAPE '\\', "
                + "CASE WHEN kind LIKE 'torch\\_%' ESCAPE '\\' THEN addr END ORDER BY ts_ns ROWS UNBOUNDED PRECEDING) AS seen "
                + "FROM numbered) SELECT * EXCLUDE (kept, seen, file_row_number) REPLACE ("
                + "CASE WHEN kind = 'torch_free' AND NOT coalesce(seen, FALSE) THEN NULL ELSE bytes END AS bytes, "
                + "CASE WHEN kind = 'torch_free' AND NOT coalesce(seen, FALSE) THEN NULL ELSE device END AS device) "
                + "FROM allocations WHERE kept ORDER BY file_row_number";
        String detail = windows.stream().map(Window::json).collect(Collectors.joining(
                ",",
                "{\"asked\":\"auto\",\"recorded\":\"windows\",\"budget\":0.01,\"why\":\"a copy\",\"kinds\":[\"cuda_launch\","
                        + "\"torch_alloc\",\"torch_free\"],\"windows\":[",
                "]}"));
        return write(target, sql, detail);
    }

    private Path write(Path target, String rows, @Nullable String detail) {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            Map<String, String> footer = new LinkedHashMap<>();
            try (ResultSet keys = statement.executeQuery("SELECT decode(key), decode(value) FROM parquet_kv_metadata("
                    + quote(full) + ") WHERE starts_with(decode(key), 'zernel.')")) {
                while (keys.next()) {
                    footer.put(keys.getString(1), keys.getString(2));
                }
            }
            footer.remove("zernel.threads");
            footer.put("zernel.overhead", FREE_OF_CHARGE);
            if (detail != null) {
                footer.put("zernel.detail", detail);
            }
            statement.execute("COPY (" + rows + ") TO " + quote(target) + " (FORMAT parquet, KV_METADATA {"
                    + footer.entrySet().stream()
                            .map(entry -> quote(entry.getKey()) + ": " + quote(entry.getValue()))
                            .collect(Collectors.joining(", "))
                    + "})");
            return target;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String any(List<Window> windows, long aroundNs) {
        return windows.stream().map(window -> window.around(aroundNs)).collect(Collectors.joining(" OR ", "(", ")"));
    }

    private static String quote(Object text) {
        return "'" + text.toString().replace("'", "''") + "'";
    }
}
