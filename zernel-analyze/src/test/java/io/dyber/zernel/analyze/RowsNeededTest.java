package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.sql.RowsNeeded;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What `sql/rows.txt` says, against the statements of the library.
/// Refresh with `./mvnw -am -pl zernel-analyze test -Dtest=RowsNeededTest -Dgolden.update
/// -Dsurefire.failIfNoSpecifiedTests=false`.
final class RowsNeededTest {
    private static final Path FILE = Path.of("src/main/resources/sql/rows.txt");
    private static final String HEAD =
            """
            # What has to have rows for a view or finding to have one, and the columns of a view.
            # Written by RowsNeededTest -Dgolden.update
            """;
    private static final SqlLibrary LIBRARY = SqlLibrary.builtIn();
    private static final Pattern CREATE = Pattern.compile("^CREATE (TABLE|VIEW) \\w+ AS\n");
    /// A column that no probe of Zernel has: what has it cannot be told from the library alone.
    private static final String OWN_COLUMN = "of_a_probe_of_users";

    @TempDir
    Path folder;

    @Test
    void theFileSaysWhatTheStatementsNeed() throws IOException {
        StringBuilder file = new StringBuilder(HEAD);
        Path recording = RecordingFixture.recording()
                .alter("ALTER TABLE events ADD COLUMN " + OWN_COLUMN + " BIGINT")
                .write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(recording.toString())) {
            DuckDb duckDb = database.duckDb();
            QueryNeeds needed = new QueryNeeds(names(), QueryNeeds.scalars(duckDb), duckDb);
            Map<String, String> types = types(duckDb);
            Set<String> created = new HashSet<>(SqlLibrary.BASE);
            for (SqlObject object : LIBRARY.objects()) {
                create(object, duckDb, created);
                String sql = CREATE.matcher(object.statement().strip()).replaceFirst("");
                Set<Set<String>> groups = sql.startsWith("CREATE ") ? Set.of() : needed.of(sql.replaceFirst(";$", ""));
                String columns = object.role() == SqlObject.Role.FINDING || groups.isEmpty() ? "" : columns(object.name(), duckDb, types);
                if (!groups.isEmpty() && !columns.contains(OWN_COLUMN)) {
                    file.append(object.name()).append("\t").append(new RowsNeeded(ordered(groups), columns)).append("\n");
                }
            }
        }
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(FILE, file);
        }
        assertThat(Files.readString(FILE)).isEqualTo(file.toString());
    }

    @Test
    void aQueryNeedsWhatItsJoinsConditionsAndPartsNeed() {
        assertThat(needs("SELECT * FROM a JOIN b USING (x) LEFT JOIN c USING (x)")).isEqualTo(Set.of(Set.of("a"), Set.of("b")));
        assertThat(needs("FROM a UNION ALL FROM b")).isEqualTo(Set.of(Set.of("a", "b")));
        assertThat(needs("SELECT count(*) FROM a")).isEmpty();
        assertThat(needs("SELECT x, count(*) FROM a GROUP BY x")).isEqualTo(Set.of(Set.of("a")));
        assertThat(needs("FROM a WHERE x IN (SELECT x FROM b) OR EXISTS (FROM c)")).isEqualTo(Set.of(Set.of("a"), Set.of("b", "c")));
        assertThat(needs("FROM a WHERE x NOT IN (SELECT x FROM b)")).isEqualTo(Set.of(Set.of("a")));
        assertThat(needs("FROM events WHERE kind IN ('sync', 'memcpy')")).isEqualTo(Set.of(Set.of("events.sync", "events.memcpy")));
        assertThat(needs("FROM a LEFT JOIN events ON a.x = events.x AND events.kind = 'sync'")).isEqualTo(Set.of(Set.of("a")));
    }

    /// In a WITH RECURSIVE, DuckDB's tree has every union as one that reads itself.
    @Test
    void aRecursiveQueryNeedsItsFirstPartAndAUnionBesideItAnyOfBoth() {
        assertThat(needs(
                        """
                        WITH RECURSIVE
                            u AS (SELECT x FROM a UNION SELECT x FROM b),
                            r AS (SELECT x FROM c UNION SELECT u.x FROM r JOIN u ON u.x = r.x)
                        FROM r
                        """))
                .isEqualTo(Set.of(Set.of("c")));
        assertThat(needs(
                        """
                        WITH RECURSIVE
                            u AS (SELECT x FROM a UNION SELECT x FROM b),
                            r AS (SELECT x FROM u UNION SELECT c.x FROM r JOIN c ON c.x = r.x)
                        FROM r
                        """))
                .isEqualTo(Set.of(Set.of("a", "b")));
    }

    /// What a query needs of the views a, b and c.
    private static Set<Set<String>> needs(String query) {
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            return new QueryNeeds(Set.of("a", "b", "c"), QueryNeeds.scalars(duckDb), duckDb).of(query);
        }
    }

    /// Of a recording that has little: what the file leaves out is computed here, and has no row.
    @Test
    void whatIsLeftOutHasNoRow() {
        Path recording = RecordingFixture.recording().training(8, 5).write(folder.resolve("run.parquet"));
        assertThat(leftOut(recording)).containsAll(List.of("_collective_calls", "_lock_queues", "line_times", "gc_stall", "nccl_straggler"));
    }

    /// What is not computed of a recording; it fails where that would have rows.
    private static List<String> leftOut(Path recording) {
        List<String> leftOut = new ArrayList<>();
        try (Database database = Recordings.open(recording.toString());
                Database other = Recordings.open(recording.toString())) {
            Set<String> created = new HashSet<>(SqlLibrary.BASE);
            for (SqlObject object : LIBRARY.objects()) {
                if (database.isSilent(object)) {
                    create(object, other.duckDb(), created);
                    boolean view = object.role() == SqlObject.Role.VIEW;
                    assertThat(other.duckDb().query("FROM (" + (view ? "FROM " + object.name() : object.statement()) + ") LIMIT 1").rows())
                            .as(object.name())
                            .isEmpty();
                    leftOut.add(object.name());
                }
            }
        }
        return leftOut;
    }

    /// What is soonest known comes first: what stands on the fewest others.
    private static List<List<String>> ordered(Set<Set<String>> groups) {
        Comparator<List<String>> byCost = Comparator.comparingInt(group -> {
            Set<String> all = new HashSet<>();
            group.forEach(name -> addNeeded(name, all));
            return all.size();
        });
        return groups.stream()
                .map(group -> List.copyOf(new TreeSet<>(group)))
                .sorted(byCost.thenComparing(Object::toString))
                .toList();
    }

    private static void addNeeded(String name, Set<String> all) {
        SqlObject object = LIBRARY.find(name);
        if (object != null && all.add(name)) {
            object.needs().forEach(needed -> addNeeded(needed, all));
        }
    }

    private static Set<String> names() {
        return LIBRARY.objects().stream()
                .filter(object -> object.role() == SqlObject.Role.VIEW && CREATE.matcher(object.statement()).find())
                .map(SqlObject::name)
                .collect(Collectors.toSet());
    }

    /// The names of the library's own types by what they are made of.
    private static Map<String, String> types(DuckDb duckDb) {
        return duckDb.query("SELECT type_name FROM duckdb_types() WHERE NOT internal").texts("type_name").stream()
                .collect(Collectors.toMap(
                        name -> duckDb.query("SELECT typeof(CAST(NULL AS " + name + ")) AS type").only().requiredText("type"), name -> name));
    }

    /// Creates a view and what it reads, whatever the file says; of a finding only what it reads.
    private static void create(SqlObject object, DuckDb duckDb, Set<String> created) {
        if (!created.add(object.name())) {
            return;
        }
        for (String name : object.needs()) {
            SqlObject needed = LIBRARY.find(name);
            if (needed != null) {
                create(needed, duckDb, created);
            }
        }
        if (object.role() == SqlObject.Role.VIEW) {
            duckDb.execute(object.statement());
        }
    }

    private static String columns(String view, DuckDb duckDb, Map<String, String> types) {
        return duckDb.query("DESCRIBE " + view).rows().stream()
                .map(row -> DuckDb.identifier(row.requiredText("column_name")) + " "
                        + types.getOrDefault(row.requiredText("column_type"), row.requiredText("column_type")))
                .collect(Collectors.joining(", "));
    }
}
