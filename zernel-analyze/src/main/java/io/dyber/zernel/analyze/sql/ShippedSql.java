package io.dyber.zernel.analyze.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The `.sql` files of the jar, each read when it is first asked for: reading all of them takes longer than most queries.
///
/// Thread-safe.
final class ShippedSql {
    private static final String ROOT = "/sql/";

    /// By the names of the objects that they end with.
    private final Map<String, String> files = new TreeMap<>();
    private final Map<String, SqlObject> known = new TreeMap<>();
    private final Map<String, RowsNeeded> rowsNeeded = RowsNeeded.shipped();
    private final Set<String> read = new HashSet<>();

    ShippedSql() {
        files().forEach(file -> files.put(name(file), file));
    }

    /// All views and findings by name.
    synchronized Map<String, SqlObject> objects() {
        files.values().forEach(this::learn);
        return Map.copyOf(known);
    }

    /// A view or finding by name, also one that stands in another's file.
    synchronized @Nullable SqlObject find(String name) {
        if (!known.containsKey(name)) {
            String file = files.get(name);
            if (file != null) {
                learn(file);
            } else if (name.startsWith("_")) {
                files.values().forEach(this::learn);
            }
        }
        return known.get(name);
    }

    RowsNeeded rowsNeeded(String name) {
        return rowsNeeded.getOrDefault(name, RowsNeeded.NONE);
    }

    private void learn(String file) {
        if (read.add(file)) {
            SqlObject.Role role = file.startsWith("findings/") ? SqlObject.Role.FINDING : SqlObject.Role.VIEW;
            SqlObject.parseFile(name(file), role, read(file), "sql/" + file).forEach(object -> known.put(object.name(), object));
        }
    }

    /// The text of a file below `sql/`.
    static String read(String file) {
        try (InputStream stream = ShippedSql.class.getResourceAsStream(ROOT + file)) {
            if (stream == null) {
                throw new IllegalStateException("the jar has no sql/" + file);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(String file) {
        return file.substring(file.indexOf('/') + 1, file.length() - ".sql".length());
    }

    private static List<String> files() {
        URL prelude = ShippedSql.class.getResource(ROOT + "prelude.sql");
        if (prelude == null) {
            throw new IllegalStateException("the jar has no sql/prelude.sql");
        }
        try {
            return switch (prelude.openConnection()) {
                case JarURLConnection jar -> jarFiles(jar);
                default -> classFolderFiles(Path.of(URI.create(prelude.toString())));
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> jarFiles(JarURLConnection connection) throws IOException {
        // The class loader's own, already open: it must not be closed here.
        return connection.getJarFile().stream()
                .map(entry -> "/" + entry.getName())
                .filter(name -> name.startsWith(ROOT))
                .map(name -> name.substring(ROOT.length()))
                .filter(name -> name.contains("/") && name.endsWith(".sql"))
                .toList();
    }

    private static List<String> classFolderFiles(Path prelude) throws IOException {
        Path root = prelude.resolveSibling("");
        try (Stream<Path> files = Files.walk(root, 2)) {
            return files.map(file -> root.relativize(file).toString())
                    .filter(name -> name.contains("/") && name.endsWith(".sql"))
                    .toList();
        }
    }
}
