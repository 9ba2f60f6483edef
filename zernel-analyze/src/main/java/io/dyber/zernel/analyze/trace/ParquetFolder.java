package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.Nullable;

/// A profile as a folder with a Parquet file for each table: `nsys export --type parquetdir`.
final class ParquetFolder implements ProfileTables {
    private static final String SUFFIX = ".parquet";
    private static final List<String> PREFIXES = List.of("CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS");

    private final Path path;
    private final Connection connection;

    private ParquetFolder(Path path, Connection connection) {
        this.path = path;
        this.connection = connection;
    }

    /// Whether a folder is one, by the names of its files.
    static boolean isOne(Path folder) {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .anyMatch(name -> name.endsWith(SUFFIX) && PREFIXES.stream().anyMatch(name::startsWith));
        } catch (IOException _) {
            return false; // opening it says why
        }
    }

    static ParquetFolder open(Path path, DuckDb duckDb) {
        try {
            return new ParquetFolder(path, duckDb.connection().unwrap(DuckDBConnection.class).duplicate());
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    @Override
    public Set<String> columns(String table) {
        Path file = path.resolve(table + SUFFIX);
        if (!Files.isRegularFile(file)) {
            return Set.of();
        }
        Set<String> columns = new LinkedHashSet<>();
        try (Statement statement = connection.createStatement()) {
            // A view of this connection alone, so that queries name tables.
            statement.execute("CREATE OR REPLACE TEMP VIEW \"" + table + "\" AS FROM read_parquet("
                    + DuckDb.pathLiteral(file) + ")");
            try (ResultSet rows = statement.executeQuery("DESCRIBE \"" + table + "\"")) {
                while (rows.next()) {
                    columns.add(rows.getString(1));
                }
            }
            return columns;
        } catch (SQLException e) {
            throw new RecordingException(
                    "opening '" + file + "': damaged: " + DuckDb.firstLine(e), "export the profile again", e);
        }
    }

    @Override
    public @Nullable String damage() {
        return null; // a Parquet file that was cut off cannot be opened
    }

    @Override
    public @Nullable String read(String sql, RowReader reader) {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            Row row = new ParquetRow(rows);
            while (rows.next()) {
                reader.read(row);
            }
            return null;
        } catch (SQLException e) {
            return DuckDb.firstLine(e);
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }

    private record ParquetRow(ResultSet rows) implements Row {
        @Override
        public @Nullable Long integer(int column) {
            try {
                // Identifiers may be unsigned, and are less than 2^63.
                return rows.getObject(column + 1) instanceof Number number ? number.longValue() : null;
            } catch (SQLException e) {
                throw DuckDb.failed(e);
            }
        }

        @Override
        public @Nullable String text(int column) {
            try {
                return rows.getString(column + 1);
            } catch (SQLException e) {
                throw DuckDb.failed(e);
            }
        }
    }
}
