package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.Cursor;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.OnDemand;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.AttachedRecording;
import io.dyber.zernel.analyze.recording.DamagedPages;
import io.dyber.zernel.analyze.recording.Digests;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.analyze.sql.GoldenSchema;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.Statements;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Suggestion;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Opened recordings as SQL: the view `events` over all of them, one view per kind with only that kind's columns,
/// the tables `files` and `footer`, and the views of the [SqlLibrary].
///
/// Every column of `bpf/schema.sql` exists; where a recording lacks one it is NULL. Columns that users' own probes added
/// follow. The last column, `recording`, counts the opened recordings from 0.
///
/// Library views and kind views come into being when a query first reads them, so opening stays fast. Not thread-safe.
public final class Database implements AutoCloseable {
    /// DuckDB's lists of durations grow by doubling.
    private static final int DURATION_BYTES = 16;

    private final DuckDb duckDb;
    private final List<Recording> recordings;
    private final Map<String, String> eventColumns;
    private final SqlLibrary library;
    private final OnDemand onDemand;
    private final DamagedPages damage;
    private @Nullable Boolean stacks;

    /// Of digests: there are no events, and the views that they hold have their rows.
    Database(DuckDb duckDb, Digests digests, SqlLibrary library) {
        this(duckDb, digests.recordings(), digests.in(library), DatabaseOptions.ALL);
        this.stacks = false;
        duckDb.execute("DROP VIEW events");
        refuse("events", "digests hold no events");
        for (SqlObject object : this.library.objects()) {
            if (object.needs().contains("footer") && !object.isKept() && !object.isOfFooter()) {
                refuse(object.name(), "digests do not hold '" + object.name() + "'");
            }
        }
        for (Digests.Unread file : digests.unread()) {
            duckDb.execute("INSERT INTO unread_files VALUES (" + DuckDb.literal(file.path().toString()) + ", "
                    + DuckDb.literal(file.state()) + ", " + DuckDb.literal(file.why()) + ")");
        }
    }

    private void refuse(String name, String why) {
        onDemand.refuse(name, new RecordingException(why, "open the recordings that they are of"));
    }

    Database(DuckDb duckDb, List<AttachedRecording> attached, SqlLibrary library, long fromNanos) {
        this.duckDb = duckDb;
        this.library = library;
        this.recordings = attached.stream().map(AttachedRecording::recording).toList();
        this.eventColumns = eventColumns(attached);
        duckDb.execute("CREATE VIEW events AS " + eventsSql(attached, fromNanos));
        fillTables(attached);
        this.damage = new DamagedPages(duckDb, attached);
        this.onDemand = new OnDemand(duckDb, library, columns(), exactQuantilesFit(rows(), duckDb.memoryLimit()));
    }

    /// What was opened; a row's `recording` is a position in this list.
    public List<Recording> recordings() {
        return recordings;
    }

    /// Whether what is open are digests, which have no events.
    public boolean isOfDigests() {
        return recordings.stream().anyMatch(recording -> recording.state() == Recording.State.DIGEST);
    }

    /// Events in all recordings.
    public long rows() {
        return recordings.stream().mapToLong(Recording::rows).sum();
    }

    /// The columns of `events` in order.
    public List<String> columns() {
        return List.copyOf(eventColumns.keySet());
    }

    /// Runs a query, `?` standing for parameters.
    ///
    /// @throws RecordingException if DuckDB refuses it
    public Table query(String sql, Object... parameters) {
        return run(sql, statement -> duckDb.query(statement, parameters));
    }

    /// The first rows of a query's result.
    ///
    /// @throws RecordingException if DuckDB refuses it
    public Table head(int most, String sql) {
        return run(sql, statement -> duckDb.head(most, statement));
    }

    /// Ends the query that another thread runs, which then fails. May be called from any thread.
    public void cancel() {
        duckDb.cancel();
    }

    /// Runs a query whose result may be larger than memory, `?` standing for parameters.
    ///
    /// @throws RecordingException if DuckDB refuses it
    public Cursor stream(String sql, Object... parameters) {
        return run(sql, statement -> duckDb.stream(statement, parameters));
    }

    /// Runs a statement that writes rows, such as COPY, and returns how many.
    ///
    /// @throws RecordingException if DuckDB refuses it
    public long write(String sql) {
        return run(sql, duckDb::write);
    }

    /// Whether a finding has nothing to say because nothing of what it is about was recorded.
    ///
    /// @throws RecordingException if what it reads cannot be computed
    boolean isSilent(SqlObject finding) {
        return undamaged(() -> onDemand.isSilent(finding));
    }

    /// Runs a query about what a finding's query returns.
    Table query(SqlObject finding, String sql) {
        return undamaged(() -> onDemand.run(finding, () -> duckDb.query(sql)));
    }

    /// Runs statements one after the other, the last one by `last`.
    private <T> T run(String sql, Function<String, T> last) {
        List<String> statements = Statements.of(sql);
        return undamaged(() -> {
            for (String statement : statements.subList(0, Math.max(0, statements.size() - 1))) {
                Table _ = onDemand.run(statement, () -> duckDb.query(statement));
            }
            String statement = statements.size() > 1 ? statements.getLast() : sql;
            return onDemand.run(statement, () -> last.apply(statement));
        });
    }

    private <T> T undamaged(Supplier<T> query) {
        try {
            return query.get();
        } catch (RecordingException e) {
            throw damage.behind(e);
        }
    }

    /// The connection, for results as Arrow batches. Call [#prepare] before a query that reads library views.
    public Connection connection() {
        return duckDb.connection();
    }

    DuckDb duckDb() {
        return duckDb;
    }

    /// Creates the library views and kind views that a query reads.
    ///
    /// @throws RecordingException if DuckDB refuses it
    public void prepare(String sql) {
        List<String> statements = Statements.of(sql);
        statements.forEach(onDemand::createFor);
        // Binding several would run all but the last.
        if (statements.size() < 2) {
            boolean _ = onDemand.explaining(() -> duckDb.binds(sql));
        }
    }

    /// Runs every finding of the library. One that fails is skipped, and the result says so.
    public Diagnosis diagnose() {
        return Diagnosis.of(this);
    }

    /// Runs one finding of the library.
    ///
    /// @throws RecordingException if its SQL fails
    /// @throws IllegalArgumentException if there is none of this name
    public List<Finding> diagnose(String finding) {
        SqlObject object = library.find(finding);
        if (object == null || object.role() != SqlObject.Role.FINDING) {
            throw new IllegalArgumentException("no finding '" + finding + "'");
        }
        return Finding.run(object, this);
    }

    /// The views and findings that this database knows.
    public SqlLibrary library() {
        return library;
    }

    /// Whether an event has a stack: views of stacks are empty where none has.
    public boolean hasStacks() {
        Boolean known = stacks;
        if (known == null) {
            known = !query("SELECT 1 FROM events WHERE stack IS NOT NULL LIMIT 1").rows().isEmpty();
            stacks = known;
        }
        return known;
    }

    /// Fails when there is nothing to analyze.
    ///
    /// @throws RecordingException if no recording has any event
    public void requireEvents() {
        if (rows() == 0) {
            throw new RecordingException(
                    "reading '" + recordings.getFirst().path() + "': the recording has no events",
                    "zernel-analyze info " + recordings.getFirst().path() + " says what each probe was waiting for");
        }
    }

    /// Fails when there are no such kinds of events.
    ///
    /// @throws RecordingException if no recording knows one of them
    public void requireKinds(List<String> wanted) {
        Set<String> known = wanted.isEmpty() ? Set.of() : new TreeSet<>(query("SELECT DISTINCT kind FROM kinds").texts("kind"));
        for (String kind : wanted) {
            if (!known.contains(kind)) {
                throw new RecordingException("selecting '" + kind + "': no such kind of event", Suggestion.hint(kind, known));
            }
        }
    }

    @Override
    public void close() {
        duckDb.close();
    }

    /// Whether the durations of all events, which exact quantiles keep, fit into half of the memory.
    static boolean exactQuantilesFit(long rows, long memoryLimit) {
        return rows <= memoryLimit / 2 / DURATION_BYTES;
    }

    private static Map<String, String> eventColumns(List<AttachedRecording> attached) {
        Map<String, String> columns = new LinkedHashMap<>();
        for (GoldenSchema.Column column : GoldenSchema.columns()) {
            columns.put(column.name(), column.type());
        }
        for (AttachedRecording recording : attached) {
            for (AttachedRecording.Relation relation : recording.relations()) {
                relation.columns().forEach(columns::putIfAbsent);
            }
        }
        // Ours, also when a file of the user has a column of this name.
        columns.remove("recording");
        columns.put("recording", "BIGINT");
        return columns;
    }

    private String eventsSql(List<AttachedRecording> attached, long fromNanos) {
        List<String> selects = new ArrayList<>();
        for (AttachedRecording recording : attached) {
            for (AttachedRecording.Relation relation : recording.relations()) {
                selects.add(selectSql(recording.recording().index(), relation) + from(relation, fromNanos));
            }
        }
        if (selects.isEmpty()) {
            return selectSql(0, new AttachedRecording.Relation("(SELECT 1) WHERE false", Map.of()));
        }
        return String.join("\nUNION ALL\n", selects);
    }

    private String selectSql(int index, AttachedRecording.Relation relation) {
        return eventColumns.entrySet().stream()
                .map(column -> columnSql(column.getKey(), column.getValue(), index, relation))
                .collect(Collectors.joining(", ", "SELECT ", " FROM " + relation.sql()));
    }

    private static String from(AttachedRecording.Relation relation, long nanos) {
        boolean all = nanos == DatabaseOptions.ALL || !relation.columns().containsKey("ts_ns");
        return all ? "" : " WHERE ts_ns >= " + nanos;
    }

    private static String columnSql(String name, String type, int index, AttachedRecording.Relation relation) {
        String quoted = DuckDb.identifier(name);
        if (name.equals("recording")) {
            return "CAST(" + index + " AS BIGINT) AS recording";
        }
        String actual = relation.columns().get(name);
        if (actual == null) {
            return "CAST(NULL AS " + type + ") AS " + quoted;
        }
        return actual.equals(type) ? quoted : "CAST(" + quoted + " AS " + type + ") AS " + quoted;
    }

    private void fillTables(List<AttachedRecording> attached) {
        for (AttachedRecording file : attached) {
            Recording recording = file.recording();
            String note = recording.note() == null ? "NULL" : DuckDb.literal(recording.note());
            duckDb.execute("INSERT INTO files VALUES (" + recording.index() + ", "
                    + file.side() + ", " + DuckDb.literal(recording.path().toString()) + ", "
                    + DuckDb.literal(recording.state().name().toLowerCase(java.util.Locale.ROOT)) + ", "
                    + recording.rows() + ", " + note + ")");
            fillFooter(recording);
        }
        duckDb.execute(SqlLibrary.labels());
    }

    private void fillFooter(Recording recording) {
        if (recording.metadata().isEmpty()) {
            return;
        }
        List<Object> rows = new ArrayList<>();
        recording.metadata().forEach((key, value) -> rows.addAll(List.of(recording.index(), key, value)));
        // One statement: each costs more than its row.
        String places = String.join(", ", Collections.nCopies(recording.metadata().size(), "(?, ?, ?)"));
        Table _ = duckDb.query("INSERT INTO footer VALUES " + places, rows.toArray());
    }
}
