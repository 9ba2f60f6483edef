package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/// The result of a query as CSV or Parquet, written by DuckDB.
public enum TableFile implements ExportFormat.Content {
    CSV("FORMAT csv, HEADER true"),
    PARQUET("FORMAT parquet, COMPRESSION zstd");

    private final String options;

    TableFile(String options) {
        this.options = options;
    }

    /// Writes a query's result and returns how many rows it has.
    public long write(Database database, String query, Path file) {
        return copy(database, query, file, options);
    }

    /// Writes a part of a recording as Parquet and returns how many rows it has.
    public static long write(Cut cut, Path file) {
        String footer = cut.footer().entrySet().stream()
                .map(entry -> quoted(entry.getKey()) + ": " + quoted(entry.getValue()))
                .collect(Collectors.joining(", "));
        String metadata = footer.isEmpty() ? "" : ", KV_METADATA {" + footer + "}";
        return copy(cut.database(), cut.query(), file, PARQUET.options + metadata);
    }

    private static long copy(Database database, String query, Path file, String options) {
        return database.write("COPY (" + query + "\n) TO " + quoted(file.toString()) + " (" + options + ")");
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
