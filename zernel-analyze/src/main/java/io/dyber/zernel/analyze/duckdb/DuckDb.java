package io.dyber.zernel.analyze.duckdb;

import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.duckdb.DuckDBDriver;
import org.duckdb.DuckDBPreparedStatement;
import org.jspecify.annotations.Nullable;

/// An in-process DuckDB with bounded memory and a temporary folder of its own.
public final class DuckDb implements AutoCloseable {
    /// Static, because it is there before what a command line becomes; a process has one command line.
    private static final AtomicReference<@Nullable FutureTask<DuckDb>> AHEAD = new AtomicReference<>();

    private final Connection connection;
    private final Path spillFolder;
    private final Map<String, PreparedStatement> kept = new HashMap<>();
    private volatile @Nullable Statement running;

    private DuckDb(Connection connection, Path spillFolder) {
        this.connection = connection;
        this.spillFolder = spillFolder;
    }

    /// Opens one with default options in a thread of its own, for the first who asks for such a one.
    public static void openAhead() {
        FutureTask<DuckDb> opening = new FutureTask<>(() -> connect(DatabaseOptions.defaults()));
        AHEAD.set(opening);
        Thread.ofPlatform().daemon().name("zernel-open").start(opening);
    }

    /// Closes what was opened ahead if nobody asked for it: the process must not end while DuckDB starts.
    public static void closeAhead() {
        takeAhead().ifPresent(DuckDb::close);
    }

    public static DuckDb open(DatabaseOptions options) {
        Optional<DuckDb> ahead = options.equals(DatabaseOptions.defaults()) ? takeAhead() : Optional.empty();
        return ahead.orElseGet(() -> connect(options));
    }

    private static Optional<DuckDb> takeAhead() {
        FutureTask<DuckDb> opening = AHEAD.getAndSet(null);
        try {
            return opening == null ? Optional.empty() : Optional.of(opening.get());
        } catch (ExecutionException _) {
            return Optional.empty(); // Opening fails again for the same reason, and says it.
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private static DuckDb connect(DatabaseOptions options) {
        // DuckDB makes the folder when it first spills.
        Path spillFolder = options.temporaryFolder()
                .resolve("zernel-" + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime()));
        Properties properties = new Properties();
        properties.setProperty("threads", Integer.toString(options.threads()));
        properties.setProperty("memory_limit", options.memoryLimit());
        properties.setProperty("temp_directory", spillFolder.toString());
        // Results come in chunks, not whole: the reader decides what it keeps.
        properties.setProperty(DuckDBDriver.JDBC_STREAM_RESULTS, "true");
        // Nothing is ever downloaded: parquet, json and icu are built in.
        properties.setProperty("autoinstall_known_extensions", "false");
        properties.setProperty("autoload_known_extensions", "false");
        try {
            // Not by DriverManager, which would scan the class path for drivers.
            DuckDb duckDb = new DuckDb(new DuckDBDriver().connect("jdbc:duckdb:", properties), spillFolder);
            // Many statements read the same files.
            duckDb.execute("SET parquet_metadata_cache = true");
            duckDb.execute(SqlLibrary.prelude());
            return duckDb;
        } catch (SQLException e) {
            throw new RecordingException(
                    "starting DuckDB: " + firstLine(e), "memory limits look like 512MB or 4GB", e);
        } catch (LinkageError e) {
            throw new RecordingException(
                    "starting DuckDB: its library cannot be loaded: " + Objects.requireNonNullElse(e.getCause(), e).getMessage(),
                    "it is libduckdb_java.so next to Zernel's jars, else in DuckDB's jar: install Zernel again",
                    e);
        }
    }

    public Connection connection() {
        return connection;
    }

    /// The bound on memory, in bytes.
    public long memoryLimit() {
        return query("SELECT CAST(parse_formatted_bytes(current_setting('memory_limit')) AS BIGINT) AS bytes")
                .only()
                .integer("bytes");
    }

    public void execute(String sql) {
        // A failed statement closes itself, so each one is new.
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /// Lets no statement from now on reach files but these, load an extension or change a setting.
    ///
    /// @param files and folders, as statements name them
    public void confine(Collection<Path> files) {
        List<String> paths = new ArrayList<>();
        List<String> folders = new ArrayList<>();
        for (Path file : files) {
            (Files.isDirectory(file) ? folders : paths).addAll(List.of(literal(file.toString()), pathLiteral(file)));
        }
        execute("SET allowed_paths = " + paths);
        execute("SET allowed_directories = " + folders);
        execute("SET enable_external_access = false");
        execute("SET lock_configuration = true");
    }

    /// Checks the names in a statement without running it; true, or it throws.
    public boolean binds(String sql) {
        try (PreparedStatement _ = connection.prepareStatement(sql)) {
            return true;
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    public Table query(String sql, Object... parameters) {
        return head(Integer.MAX_VALUE, sql, parameters);
    }

    /// The first rows of a result.
    public Table head(int most, String sql, Object... parameters) {
        try (Statement statement = parameters.length == 0 ? connection.createStatement() : connection.prepareStatement(sql)) {
            running = statement;
            // COPY, SET and the like have no rows.
            if (!execute(statement, sql, parameters)) {
                return new Table(List.of(), List.of());
            }
            try (ResultSet result = statement.getResultSet()) {
                return table(result, most);
            }
        } catch (SQLException e) {
            throw failed(e);
        } finally {
            running = null;
        }
    }

    /// Without parameters nothing is prepared: what reads Parquet files DuckDB would plan then, and again to run it.
    private static boolean execute(Statement statement, String sql, Object... parameters) throws SQLException {
        if (parameters.length == 0) {
            return statement.execute(sql);
        }
        PreparedStatement prepared = (PreparedStatement) statement;
        for (int i = 0; i < parameters.length; i++) {
            prepared.setObject(i + 1, parameters[i]);
        }
        return prepared.execute();
    }

    /// The rows of a query that is run often, and planned once.
    Table queryOften(String sql, Object... parameters) {
        try {
            PreparedStatement statement = kept.get(sql);
            if (statement == null) {
                statement = connection.prepareStatement(sql);
                kept.put(sql, statement);
            }
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            try (ResultSet result = statement.executeQuery()) {
                return table(result, Integer.MAX_VALUE);
            }
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /// Ends the query that runs, on another thread, if any does.
    public void cancel() {
        Statement statement = running;
        if (statement != null) {
            try {
                statement.cancel();
            } catch (SQLException e) {
                throw failed(e);
            }
        }
    }

    /// Runs a statement that writes rows, and returns how many.
    public long write(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return statement.getUpdateCount();
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /// The rows as they come; `?` stands for parameters.
    public Cursor stream(String sql, Object... parameters) {
        try {
            PreparedStatement statement = connection.prepareStatement(sql);
            try {
                for (int i = 0; i < parameters.length; i++) {
                    statement.setObject(i + 1, parameters[i]);
                }
                return new Cursor(statement.unwrap(DuckDBPreparedStatement.class));
            } catch (SQLException e) {
                statement.close();
                throw e;
            }
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    @Override
    public void close() {
        try {
            for (PreparedStatement statement : kept.values()) {
                statement.close();
            }
            connection.close();
        } catch (SQLException e) {
            throw failed(e);
        } finally {
            removeSpilled();
        }
    }

    public static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    public static String identifier(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    /// A path as `read_parquet` takes it: literally, although it reads its argument as a glob.
    public static String pathLiteral(Path path) {
        return literal(path.toString().replaceAll("([*?\\[])", "[$1]"));
    }

    private void removeSpilled() {
        if (!Files.isDirectory(spillFolder)) {
            return;
        }
        try (Stream<Path> spilled = Files.walk(spillFolder)) {
            for (Path path : spilled.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Table table(ResultSet result, int most) throws SQLException {
        ResultSetMetaData metadata = result.getMetaData();
        List<Table.Column> columns = new ArrayList<>();
        Map<String, Integer> positions = new HashMap<>();
        for (int i = 1; i <= metadata.getColumnCount(); i++) {
            columns.add(new Table.Column(metadata.getColumnName(i), metadata.getColumnTypeName(i)));
            positions.putIfAbsent(metadata.getColumnName(i), i - 1);
        }
        List<Table.Row> rows = new ArrayList<>();
        while (rows.size() < most && result.next()) {
            List<@Nullable Object> values = new ArrayList<>(columns.size());
            for (int i = 1; i <= columns.size(); i++) {
                values.add(PlainValue.of(value(result, i, columns.get(i - 1))));
            }
            rows.add(new Table.Row(positions, values));
        }
        return new Table(columns, rows);
    }

    /// A java.sql.Timestamp counts in the time zone of the JVM, which may lack the hour.
    private static @Nullable Object value(ResultSet result, int place, Table.Column column) throws SQLException {
        boolean local = column.type().equals("TIMESTAMP");
        return local ? result.getObject(place, LocalDateTime.class) : result.getObject(place);
    }

    public static RecordingException failed(SQLException e) {
        String text = String.valueOf(e.getMessage()).strip();
        if (text.contains("Out of Memory") || text.contains("could not allocate block")) {
            return new RecordingException(
                    "running a query: " + firstLine(e), "raise the bound with --memory, e.g. --memory 8GB", e);
        }
        if (text.startsWith("INTERNAL Error")) {
            return new RecordingException("running a query: " + firstLine(e), "is the recording damaged?", e);
        }
        return new RecordingException("running a query: " + text, null, e);
    }

    /// What DuckDB says, without the place in the SQL.
    public static String firstLine(SQLException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("no reason given");
    }
}
