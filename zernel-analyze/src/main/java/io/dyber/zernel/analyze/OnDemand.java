package io.dyber.zernel.analyze;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Creates views when a query first names them: creating all of them would cost more than most queries.
final class OnDemand {
    private static final Pattern WORD = Pattern.compile("\\w+");
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
    /// Views that could not be made: whoever names one is told the same again.
    private final Map<String, RecordingException> failed = new HashMap<>();
    private @Nullable Map<String, Set<String>> kinds;

    OnDemand(DuckDb duckDb, SqlLibrary library, List<String> columns) {
        this.duckDb = duckDb;
        this.library = library;
        this.columns = columns;
        duckDb.execute(library.prelude());
    }

    void prepareFor(String sql) {
        // A word inside a string or a comment creates a view too many, which is harmless.
        Matcher words = WORD.matcher(sql);
        while (words.find()) {
            prepare(words.group());
        }
    }

    private void prepare(String name) {
        RecordingException failure = failed.get(name);
        if (failure != null) {
            throw failure;
        }
        if (created.contains(name)) {
            return;
        }
        SqlObject object = library.find(name);
        if (object != null && object.role() == SqlObject.Role.VIEW) {
            create(object);
            return;
        }
        Set<String> kindColumns = kinds().get(name);
        if (kindColumns != null && created.add(name)) {
            createKindView(name, kindColumns);
        }
    }

    private void create(SqlObject object) {
        created.add(object.name());
        object.needs().forEach(this::prepare);
        try {
            duckDb.execute(object.statement());
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
        duckDb.execute("CREATE VIEW " + DuckDb.identifier(kind) + " AS SELECT " + list + " FROM events WHERE kind = "
                + DuckDb.literal(kind));
    }
}
