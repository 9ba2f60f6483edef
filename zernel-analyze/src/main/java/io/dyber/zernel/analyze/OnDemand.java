package io.dyber.zernel.analyze;

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

/// Creates views when a query first reads them: creating all of them would cost more than most queries.
///
/// Which names a query reads is for DuckDB to say, by missing them: a word may as well be a column or a CTE.
final class OnDemand {
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
    /// Views that could not be made: whoever reads one is told the same again.
    private final Map<String, RecordingException> failed = new HashMap<>();
    private @Nullable Map<String, Set<String>> kinds;

    OnDemand(DuckDb duckDb, SqlLibrary library, List<String> columns, boolean exactQuantiles) {
        this.duckDb = duckDb;
        this.library = library;
        this.columns = columns;
        if (!exactQuantiles) {
            duckDb.execute(SqlLibrary.histogram());
        }
    }

    /// Runs a statement, again after each view that it was missing. DuckDB looks for them before it does anything.
    <T> T withViews(Supplier<T> statement) {
        while (true) {
            try {
                return statement.get();
            } catch (RecordingException e) {
                createMissing(e);
            }
        }
    }

    /// Creates what a statement failed for, or throws.
    private void createMissing(RecordingException e) {
        String text = String.valueOf(e.getMessage());
        if (text.contains("Catalog Error: View with name ")) {
            // What DuckDB suggests are tables of its own.
            throw new RecordingException(
                    text.replaceFirst("\n(?s)Did you mean .*", ""), "the library's views exist only while they are read: nothing to drop", e);
        }
        Matcher missing = MISSING.matcher(text);
        if (!missing.find()) {
            throw e;
        }
        String name = missing.group(1);
        if (!create(name) && !create(name.toLowerCase(Locale.ROOT))) {
            // What DuckDB suggests are tables of its own.
            String message = String.valueOf(e.getMessage()).replaceFirst("\nDid you mean .*", "");
            throw new RecordingException(
                    message, Suggestion.of(name, names()).map(near -> "did you mean '" + near + "'?").orElse(null), e);
        }
    }

    private List<String> names() {
        return Stream.concat(
                        SqlLibrary.BASE.stream(),
                        Stream.concat(library.objects().stream().map(SqlObject::name), kinds().keySet().stream()))
                .toList();
    }

    /// Whether there is a view of this name that did not exist.
    private boolean create(String name) {
        RecordingException failure = failed.get(name);
        if (failure != null) {
            throw failure;
        }
        SqlObject object = library.find(name);
        if (object != null && object.role() == SqlObject.Role.VIEW) {
            return created.add(name) && create(object);
        }
        Set<String> kindColumns = kinds().get(name);
        if (kindColumns == null || !created.add(name)) {
            return false;
        }
        createKindView(name, kindColumns);
        return true;
    }

    private boolean create(SqlObject object) {
        try {
            object.needs().forEach(this::create);
            return withViews(() -> {
                duckDb.execute(object.statement());
                return true;
            });
        } catch (RecordingException e) {
            RecordingException failure = object.failed("creating", e);
            failed.put(object.name(), failure);
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
