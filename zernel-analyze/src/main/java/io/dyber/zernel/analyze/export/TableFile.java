package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import java.nio.file.Path;

/// The result of a query as CSV or Parquet, written by DuckDB.
public enum TableFile {
    CSV("FORMAT csv, HEADER true"),
    PARQUET("FORMAT parquet, COMPRESSION zstd");

    private final String options;

    TableFile(String options) {
        this.options = options;
    }

    /// Writes a query's result and returns how many rows it has.
    public long write(Database database, String query, Path file) {
        String target = file.toString().replace("'", "''");
        return database.write("COPY (" + query + "\n) TO '" + target + "' (" + options + ")");
    }
}
