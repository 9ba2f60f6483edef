package io.dyber.zernel.record.recording;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// DuckDB, the independent reader of what the tests write.
public final class Duck {
    private Duck() {}

    /// The rows of `sql`, in which `$file` stands for the quoted path.
    public static List<List<@Nullable Object>> query(Path file, String sql) {
        String statement = sql.replace("$file", "'" + file + "'");
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement jdbc = connection.createStatement();
                ResultSet result = jdbc.executeQuery(statement)) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            while (result.next()) {
                List<@Nullable Object> row = new ArrayList<>();
                for (int c = 1; c <= result.getMetaData().getColumnCount(); c++) {
                    row.add(result.getObject(c));
                }
                rows.add(row);
            }
            return rows;
        } catch (SQLException e) {
            throw new AssertionError(statement, e);
        }
    }
}
