package io.dyber.zernel.record.live;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A `run.parquet` as a user of DuckDB sees it: `events` is the file, and nothing but the file.
final class Recording implements AutoCloseable {
    private final Path file;
    private final Connection connection;

    private Recording(Path file, Connection connection) {
        this.file = file;
        this.connection = connection;
    }

    /// A recording without anything in it, until there is one.
    static Recording none() {
        try {
            return new Recording(Path.of(""), DriverManager.getConnection("jdbc:duckdb:"));
        } catch (SQLException e) {
            throw new AssertionError("opening DuckDB: " + e.getMessage(), e);
        }
    }

    static Recording open(Path file) {
        try {
            Connection connection = DriverManager.getConnection("jdbc:duckdb:");
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE VIEW events AS FROM '" + file + "'");
            }
            return new Recording(file, connection);
        } catch (SQLException e) {
            throw new AssertionError("opening " + file + ": " + e.getMessage(), e);
        }
    }

    Path file() {
        return file;
    }

    /// Adds a table or view to those that can be asked.
    void define(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql + ": " + e.getMessage(), e);
        }
    }

    /// Each row as its values joined by one space, NULL as `null`.
    List<String> rows(String sql) {
        List<String> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                List<String> values = new ArrayList<>();
                for (int i = 1; i <= columns; i++) {
                    @Nullable Object value = result.getObject(i);
                    values.add(String.valueOf(value));
                }
                rows.add(String.join(" ", values));
            }
            return rows;
        } catch (SQLException e) {
            throw new AssertionError(sql + ": " + e.getMessage(), e);
        }
    }

    /// The one value of the one row.
    String value(String sql) {
        List<String> rows = rows(sql);
        if (rows.size() != 1) {
            throw new AssertionError(sql + ": " + rows.size() + " rows");
        }
        return rows.getFirst();
    }

    long number(String sql) {
        return Long.parseLong(value(sql));
    }

    /// The numbers of a column, in the order of the query.
    List<Long> numbers(String sql) {
        return rows(sql).stream().map(Long::valueOf).toList();
    }

    /// A value of the footer, e.g. `zernel.recording`.
    JsonNode footer(String key) {
        return JsonMapper.shared()
                .readTree(value("SELECT decode(value) FROM parquet_kv_metadata('" + file + "') WHERE decode(key) = '"
                        + key + "'"));
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new AssertionError("closing DuckDB: " + e.getMessage(), e);
        }
    }
}
