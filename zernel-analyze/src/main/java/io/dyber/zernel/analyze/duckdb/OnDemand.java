package io.dyber.zernel.analyze.duckdb;

import io.dyber.zernel.analyze.sql.RowsNeeded;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.SqlToken;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Suggestion;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Creates views before the first statement that reads them: creating all of them would cost more than most queries.
///
/// What a statement reads is known from its text ([ReadNames]), what the library's own SQL reads from its header.
public final class OnDemand {
    private static final Pattern MISSING = Pattern.compile("^running a query: Catalog Error: Table (?:Function )?with name (.+) does not exist!");
    private static final Set<String> CORE = Set.of("kind", "name", "ts_ns", "dur_ns", "pid", "tid", "cpu", "comm");
    private static final String KINDS_SQL =
            """
            SELECT kind.kind AS kind, string_agg(array_to_string(kind.columns, ','), ',') AS columns
            FROM (
                SELECT unnest(from_json(value, '{"kinds":[{"kind":"VARCHAR","columns":["VARCHAR"]}]}').kinds) AS kind
                FROM footer
                WHERE key = 'zernel.schema'
            )
            WHERE kind.kind IS NOT NULL
            GROUP BY ALL
            """;

    private final DuckDb duckDb;
    private final SqlLibrary library;
    private final List<String> columns;
    private final Set<String> created = new HashSet<>();
    /// Views that could not be made, and the error that each of their readers gets.
    private final Map<String, RecordingException> failed = new HashMap<>();
    /// Tables that have no row.
    private final Set<String> empty = new HashSet<>();
    private @Nullable Map<String, Set<String>> kinds;
    private @Nullable Set<String> recordedKinds;

    public OnDemand(DuckDb duckDb, SqlLibrary library, List<String> columns, boolean exactQuantiles) {
        this.duckDb = duckDb;
        this.library = library;
        this.columns = columns;
        if (!exactQuantiles) {
            duckDb.execute(SqlLibrary.histogram());
        }
    }

    /// Lets whoever reads a view or table fail for a reason of its own.
    public void refuse(String name, RecordingException why) {
        failed.put(name, why);
    }

    /// Runs a statement, once, after creating what it reads.
    ///
    /// @throws RecordingException if DuckDB refuses it, or a view that it reads cannot be created
    public <T> T run(String statement, Supplier<T> action) {
        createFor(statement);
        T result = explaining(action);
        noteOwn(SqlToken.withoutComments(statement));
        return result;
    }

    /// Runs a finding after creating what it reads.
    ///
    /// @throws RecordingException if DuckDB refuses it, or a view that it reads cannot be created
    public <T> T run(SqlObject finding, Supplier<T> action) {
        createFor(finding);
        return explaining(action);
    }

    /// Whether a finding has nothing to say because nothing of what it is about was recorded.
    ///
    /// @throws RecordingException if that cannot be known, because a view cannot be created
    public boolean isSilent(SqlObject finding) {
        return explaining(() -> lacksRows(library.rowsNeeded(finding.name())));
    }

    private boolean lacksRows(RowsNeeded needed) {
        return needed.groups().stream().anyMatch(group -> group.stream().allMatch(this::isEmpty));
    }

    /// Whether a relation has no row, as far as that is known: of a view it is where what it is made of has none.
    private boolean isEmpty(String name) {
        if (name.startsWith(RowsNeeded.KIND)) {
            create("events"); // which may have been refused
            return !recordedKinds().contains(name.substring(RowsNeeded.KIND.length()));
        }
        create(name);
        return empty.contains(name);
    }

    private Set<String> recordedKinds() {
        Set<String> known = recordedKinds;
        if (known == null) {
            known = Set.copyOf(duckDb.query("SELECT DISTINCT kind FROM events WHERE kind IS NOT NULL").texts("kind"));
            recordedKinds = known;
        }
        return known;
    }

    /// Remembers what users created themselves, which hides the library's, and what they dropped. What they write to may have rows.
    private void noteOwn(List<SqlToken> tokens) {
        if (!tokens.isEmpty() && !tokens.getFirst().is("SELECT") && !tokens.getFirst().is("FROM")) {
            tokens.stream().filter(SqlToken::isName).forEach(name -> empty.remove(known(name.value())));
        }
        ReadNames.created(tokens).ifPresent(name -> created.add(known(name.value())));
        if (!tokens.isEmpty() && tokens.getFirst().is("DROP")) {
            tokens.stream().filter(SqlToken::isName).forEach(name -> created.remove(known(name.value())));
        }
    }

    /// Creates what a statement reads.
    ///
    /// @throws RecordingException if a view that it certainly reads cannot be created
    public void createFor(String statement) {
        if (!hasOpenName(statement)) {
            return;
        }
        ReadNames names = ReadNames.of(statement, duckDb);
        names.certain().forEach(this::create);
        names.possible().forEach(this::createIfPossible);
    }

    /// Whether a word of a statement names what is not there yet: most that are run again name none, and need no syntax tree.
    private boolean hasOpenName(String statement) {
        return SqlToken.of(statement).stream()
                .flatMap(token -> token.kind() == SqlToken.Kind.TEXT ? SqlToken.of(token.value()).stream() : Stream.of(token))
                .filter(SqlToken::isName)
                .map(token -> known(token.value()))
                .anyMatch(name -> failed.containsKey(name) || (!created.contains(name) && (view(name) != null || kinds().containsKey(name))));
    }

    /// Creates what a finding or view reads. Those that a user added may say less in their header than they read.
    private void createFor(SqlObject object) {
        object.needs().forEach(this::create);
        if (library.isAdded(object.name())) {
            createFor(object.statement());
        }
    }

    /// Runs something, and says in the library's words that a name is not there: DuckDB suggests only tables of its own.
    public <T> T explaining(Supplier<T> action) {
        try {
            return action.get();
        } catch (RecordingException e) {
            throw explained(e);
        }
    }

    private RecordingException explained(RecordingException e) {
        String text = String.valueOf(e.getMessage());
        if (text.contains("Catalog Error: View with name ")) {
            return new RecordingException(
                    text.replaceFirst("\n(?s)Did you mean .*", ""), "the library's views exist only while they are read: nothing to drop", e);
        }
        Matcher missing = MISSING.matcher(text);
        if (!missing.find()) {
            return e;
        }
        String name = missing.group(1);
        RecordingException failure = failed.get(known(name));
        return failure != null
                ? failure
                : new RecordingException(
                        text.replaceFirst("\nDid you mean .*", ""),
                        names().contains(name)
                                ? "'" + name + "' is a finding, not a view: zernel-analyze findings tells it"
                                : Suggestion.nearest(name, names()).orElse(null),
                        e);
    }

    private List<String> names() {
        return Stream.concat(
                        SqlLibrary.BASE.stream(),
                        Stream.concat(library.objects().stream().map(SqlObject::name), kinds().keySet().stream()))
                .toList();
    }

    /// One that is not made now is missing where the statement does read it, and then [#explaining] says why.
    private void createIfPossible(String name) {
        try {
            create(name);
        } catch (RecordingException _) {
            // Remembered in `failed`.
        }
    }

    /// Creates the view of a name if there is one in the library, or a kind of events, and it is not there yet.
    private void create(String written) {
        String name = known(written);
        RecordingException failure = failed.get(name);
        if (failure != null) {
            throw failure;
        }
        SqlObject view = view(name);
        Set<String> kindColumns = view == null ? kinds().get(name) : null;
        if (view != null && created.add(name)) {
            create(view);
        } else if (kindColumns != null && created.add(name)) {
            createKindView(name, kindColumns);
        }
    }

    /// A name as the library has it: SQL does not tell upper case from lower case.
    private String known(String written) {
        return view(written) != null || kinds().containsKey(written) ? written : written.toLowerCase(Locale.ROOT);
    }

    private @Nullable SqlObject view(String name) {
        SqlObject object = library.find(name);
        return object != null && object.role() == SqlObject.Role.VIEW ? object : null;
    }

    private void create(SqlObject view) {
        try {
            RowsNeeded needed = library.rowsNeeded(view.name());
            if (lacksRows(needed)) {
                duckDb.execute("CREATE TABLE " + DuckDb.identifier(view.name()) + " (" + needed.columns() + ")");
                empty.add(view.name());
                return;
            }
            createFor(view);
            String statement = view.statement();
            long rows = explaining(() -> duckDb.write(statement));
            if (rows == 0 && statement.startsWith("CREATE TABLE")) {
                empty.add(view.name());
            }
        } catch (RecordingException e) {
            RecordingException failure = view.failed("creating", e);
            failed.put(view.name(), failure);
            throw failure;
        }
    }

    private Map<String, Set<String>> kinds() {
        Map<String, Set<String>> known = kinds;
        if (known == null) {
            known = new HashMap<>();
            for (Table.Row row : duckDb.query(KINDS_SQL).rows()) {
                known.put(row.requiredText("kind"), new HashSet<>(List.of(String.valueOf(row.text("columns")).split(","))));
            }
            kinds = known;
        }
        return known;
    }

    private void createKindView(String kind, Set<String> kindColumns) {
        String list = columns.stream()
                .filter(column -> CORE.contains(column) || kindColumns.contains(column) || column.equals("recording"))
                .map(DuckDb::identifier)
                .collect(Collectors.joining(", "));
        duckDb.execute("CREATE VIEW " + DuckDb.identifier(kind) + " AS SELECT " + list
                + " FROM events WHERE kind = " + DuckDb.literal(kind));
    }
}
