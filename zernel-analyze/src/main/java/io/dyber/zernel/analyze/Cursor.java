package io.dyber.zernel.analyze;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The rows of a query one by one, for results that do not fit memory. Columns count from 0.
///
/// No other query may run on its [Database] while it is open. Not thread-safe.
public final class Cursor implements AutoCloseable {
    private final PreparedStatement statement;
    private final ResultSet result;

    Cursor(PreparedStatement statement) throws SQLException {
        this.statement = statement;
        this.result = statement.executeQuery();
    }

    /// Goes to the next row, at first to the first one; false when there is none.
    public boolean next() {
        try {
            return result.next();
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    /// The names of the columns.
    public List<String> columns() {
        try {
            List<String> names = new ArrayList<>();
            for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                names.add(result.getMetaData().getColumnName(i));
            }
            return names;
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    /// An integer; `absent` where it is NULL.
    public long integer(int column, long absent) {
        try {
            long value = result.getLong(column + 1);
            return value == 0 && result.wasNull() ? absent : value;
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    /// A truth value; false where it is NULL.
    public boolean flag(int column) {
        try {
            return result.getBoolean(column + 1);
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    /// A text, or a number as text; null where it is NULL.
    public @Nullable String text(int column) {
        try {
            return result.getString(column + 1);
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
    }

    /// A value as a [Table] holds it.
    public @Nullable Object value(int column) {
        try {
            return DuckDb.plain(result.getObject(column + 1));
        } catch (SQLException e) {
            throw DuckDb.failed(e);
        }
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
