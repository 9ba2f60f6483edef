package io.dyber.zernel.analyze.duckdb;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.duckdb.DuckDBChunkedResult;
import org.duckdb.DuckDBDataChunkReader;
import org.duckdb.DuckDBPreparedStatement;
import org.duckdb.DuckDBReadableVector;
import org.jspecify.annotations.Nullable;

/// The rows of a query one by one, for results that do not fit memory. Columns count from 0; they are integers of 64
/// bits, real numbers, truth values or texts.
///
/// Values are read where DuckDB has them: a JDBC result set first copies all columns of all rows, which takes several
/// times as long as to sort them. No other query may run on its [Database] while it is open. Not thread-safe.
public final class Cursor implements AutoCloseable {
    private final DuckDBPreparedStatement statement;
    private final DuckDBChunkedResult result;
    private List<DuckDBReadableVector> vectors = List.of();
    private long rows;
    private long row = -1;

    Cursor(DuckDBPreparedStatement statement) throws SQLException {
        this.statement = statement;
        this.result = statement.query();
    }

    /// Goes to the next row, at first to the first one; false when there is none.
    public boolean next() {
        while (++row >= rows) {
            if (!result.nextChunk()) {
                return false;
            }
            DuckDBDataChunkReader chunk = result.chunk();
            List<DuckDBReadableVector> columns = new ArrayList<>();
            for (long i = 0; i < chunk.columnCount(); i++) {
                columns.add(chunk.vector(i));
            }
            vectors = columns;
            rows = chunk.rowCount();
            row = -1;
        }
        return true;
    }

    /// An integer; `absent` where it is NULL.
    public long integer(int column, long absent) {
        return vectors.get(column).getLong(row, absent);
    }

    /// A truth value; false where it is NULL.
    public boolean flag(int column) {
        return vectors.get(column).getBoolean(row, false);
    }

    /// A text; null where it is NULL.
    public @Nullable String text(int column) {
        return vectors.get(column).getString(row);
    }

    /// A value as a [Table] holds it.
    public @Nullable Object value(int column) {
        DuckDBReadableVector vector = vectors.get(column);
        if (vector.isNull(row)) {
            return null;
        }
        return switch (vector.getType()) {
            case BIGINT -> (Object) vector.getLong(row);
            case DOUBLE -> vector.getDouble(row);
            case BOOLEAN -> vector.getBoolean(row);
            case VARCHAR -> vector.getString(row);
            default -> throw new IllegalStateException("column " + column + " is of type " + vector.getType());
        };
    }

    @Override
    public void close() {
        try (statement) {
            result.close();
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }
}
