package io.dyber.zernel.analyze.trace;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The tables of an exported profile, which are the same in each format. Not thread-safe.
sealed interface ProfileTables extends AutoCloseable permits ParquetFolder, SqliteFile {
    /// The columns of a table; empty if there is no such table.
    Set<String> columns(String table);

    /// Why tables may not be whole, as far as they say that themselves; null otherwise.
    @Nullable String damage();

    /// Hands each row of a query to `reader`.
    ///
    /// @return why it could not be read on; null when it was read to its end
    @Nullable String read(String sql, RowReader reader);

    @Override
    void close();

    /// Takes rows one after another.
    interface RowReader {
        void read(Row row);
    }

    /// The row that a query stands on; columns count from 0.
    interface Row {
        /// Null for NULL.
        @Nullable Long integer(int column);

        /// Null for NULL.
        @Nullable String text(int column);
    }
}
