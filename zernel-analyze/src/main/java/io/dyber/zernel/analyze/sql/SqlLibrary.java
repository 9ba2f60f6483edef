package io.dyber.zernel.analyze.sql;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Suggestion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The views and findings: `.sql` files in a folder for each subject.
///
/// A file creates the view or table of its name; before it may stand those that nothing else reads. A file in `findings/` ends
/// with a query, which returns no row when the recording does not have the problem.
public final class SqlLibrary {
    /// What every [Database] has of its own.
    public static final Set<String> BASE = Set.of("events", "files", "footer");
    /// A server opens recordings again and again, and each file is read once.
    private static final SqlLibrary BUILT_IN = new SqlLibrary(new ShippedSql(), Map.of(), Set.of());

    private final ShippedSql shipped;
    /// Those that were added or changed.
    private final Map<String, SqlObject> own;
    private final Set<String> added;

    private SqlLibrary(ShippedSql shipped, Map<String, SqlObject> own, Set<String> added) {
        this.shipped = shipped;
        this.own = own;
        this.added = added;
    }

    /// The library in the jar.
    public static SqlLibrary builtIn() {
        return BUILT_IN;
    }

    /// This library and the `.sql` files of a folder, which may replace built-in ones of the same name.
    ///
    /// A file that creates a view or table is a view; any other is a finding.
    ///
    /// @throws RecordingException if the folder cannot be read
    public SqlLibrary with(Path folder) {
        Map<String, SqlObject> all = new TreeMap<>(own);
        Set<String> names = new TreeSet<>(added);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".sql")).sorted().toList()) {
                String sql = Files.readString(file);
                String name = String.valueOf(file.getFileName()).replace(".sql", "");
                SqlObject object = SqlObject.parse(name, roleOf(sql), sql, file.toString(), 1);
                checkName(object, find(name));
                all.put(name, object);
                names.add(name);
            }
        } catch (IOException e) {
            throw new RecordingException("reading findings from '" + folder + "': " + reason(e), null, e);
        }
        return new SqlLibrary(shipped, all, names);
    }

    /// This library with another value of a threshold.
    ///
    /// @param name of a finding or view and its threshold, e.g. `phase_rules.io_wait_threshold`
    /// @throws IllegalArgumentException if there is none of this name, or the value is not like the one that it has
    public SqlLibrary with(String name, String value) {
        int dot = name.indexOf('.');
        String owner = dot < 0 ? name : name.substring(0, dot);
        SqlObject object = find(owner);
        if (object == null) {
            List<String> owners = objects().stream()
                    .filter(one -> !Threshold.of(one).isEmpty())
                    .map(SqlObject::name)
                    .toList();
            throw new IllegalArgumentException(
                    "there is no finding or view '" + owner + "': " + Suggestion.hint(owner, owners));
        }
        Map<String, SqlObject> all = new TreeMap<>(own);
        all.put(owner, Threshold.set(object, dot < 0 ? "" : name.substring(dot + 1), value));
        return new SqlLibrary(shipped, all, added);
    }

    /// This library with views and findings whose rows are there already, and must not have been changed.
    ///
    /// @throws RecordingException if one of them, or what it was computed from, was added or changed
    public SqlLibrary holding(Collection<SqlObject> kept) {
        Map<String, SqlObject> all = new TreeMap<>(own);
        for (SqlObject object : kept) {
            checkUnchanged(object.name(), object.name(), new TreeSet<>());
            all.put(object.name(), object);
        }
        return new SqlLibrary(shipped, all, added);
    }

    private void checkUnchanged(String name, String of, Set<String> seen) {
        if (own.containsKey(name)) {
            throw new RecordingException(
                    "using another '" + name + "': digests hold '" + of + "' as it was computed when they were made",
                    "open the recordings, or make their digests with the same options");
        }
        SqlObject object = shipped.find(name);
        if (object != null && seen.add(name)) {
            object.needs().forEach(needed -> checkUnchanged(needed, of, seen));
        }
    }

    /// Whether what an object reads can be had of digests: nothing of it is read from events or a footer's other keys.
    public boolean isOfDigests(SqlObject object) {
        return object.needs().stream().allMatch(name -> {
            SqlObject needed = find(name);
            return needed == null
                    ? name.equals("files")
                    : needed.isKept() || needed.isOfFooter() || isOfDigests(needed);
        });
    }

    /// All objects in the order of their names.
    public Collection<SqlObject> objects() {
        Map<String, SqlObject> all = new TreeMap<>(shipped.objects());
        all.putAll(own);
        return all.values();
    }

    /// The findings in the order of their names.
    public List<SqlObject> findings() {
        return objects().stream()
                .filter(object -> object.role() == SqlObject.Role.FINDING)
                .toList();
    }

    /// An object by name.
    public @Nullable SqlObject find(String name) {
        SqlObject object = own.get(name);
        return object == null ? shipped.find(name) : object;
    }

    /// What has to have rows for an object to have one: nothing that is known of one that was added or changed.
    public RowsNeeded rowsNeeded(String name) {
        return own.containsKey(name) ? RowsNeeded.NONE : shipped.rowsNeeded(name);
    }

    /// Whether an object is a file of a folder, whose `needs` is not to be relied on.
    public boolean isAdded(String name) {
        return added.contains(name);
    }

    /// Macros that every other file may use.
    public static String prelude() {
        return ShippedSql.read("prelude.sql");
    }

    /// What gives recordings and their processes names, once `files` and `footer` have their rows.
    public static String labels() {
        return ShippedSql.read("labels.sql");
    }

    /// What makes rows to show of the facts that a finding's query returns, in the table `_finding`.
    public static String finding() {
        return ShippedSql.read("finding.sql");
    }

    /// Macros that take the place of those of the prelude where exact quantiles need too much memory.
    public static String histogram() {
        return ShippedSql.read("histogram.sql");
    }

    private static SqlObject.Role roleOf(String sql) {
        return SqlObject.createdBy(sql).isPresent() ? SqlObject.Role.VIEW : SqlObject.Role.FINDING;
    }

    /// A view is looked for in the file of its name, and others rely on what a built-in name stands for.
    private static void checkName(SqlObject object, @Nullable SqlObject replaced) {
        String reading = "reading '" + object.origin() + "': ";
        String created = SqlObject.createdBy(object.sql()).orElse(object.name());
        if (!created.equals(object.name())) {
            throw new RecordingException(reading + "it creates '" + created + "'", "call the file " + created + ".sql");
        }
        if (BASE.contains(object.name())) {
            throw new RecordingException(reading + "'" + object.name() + "' is what views are made of", "call it otherwise");
        }
        if (replaced != null && replaced.role() != object.role()) {
            boolean view = replaced.role() == SqlObject.Role.VIEW;
            throw new RecordingException(
                    reading + "'" + object.name() + "' is a " + (view ? "view" : "finding") + " and this is a "
                            + (view ? "finding" : "view"),
                    "call it otherwise; to replace the " + (view ? "view, begin with CREATE VIEW" : "finding, leave out CREATE"));
        }
    }

    private static String reason(IOException e) {
        return e instanceof java.nio.file.NoSuchFileException ? "no such folder" : String.valueOf(e.getMessage());
    }
}
