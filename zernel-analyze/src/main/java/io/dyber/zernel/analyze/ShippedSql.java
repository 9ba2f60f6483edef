package io.dyber.zernel.analyze;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A `.sql` file of the jar, read when it is first asked for: reading all of them takes longer than most queries.
final class ShippedSql implements Supplier<SqlObject> {
    private static final String ROOT = "/sql/";

    private final String file;
    private @Nullable SqlObject object;

    private ShippedSql(String file) {
        this.file = file;
    }

    /// The views and findings by name.
    static Map<String, Supplier<SqlObject>> objects() {
        Map<String, Supplier<SqlObject>> objects = new TreeMap<>();
        for (String file : files()) {
            objects.put(name(file), new ShippedSql(file));
        }
        return objects;
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

    @Override
    public synchronized SqlObject get() {
        SqlObject known = object;
        if (known == null) {
            SqlObject.Role role = file.startsWith("findings/") ? SqlObject.Role.FINDING : SqlObject.Role.VIEW;
            known = SqlObject.parse(name(file), role, read(file), "sql/" + file);
            object = known;
        }
        return known;
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
        List<String> names = new ArrayList<>();
        for (String folder : List.of("views", "findings")) {
            try (Stream<Path> files = Files.list(root.resolve(folder))) {
                files.map(file -> folder + "/" + file.getFileName())
                        .filter(name -> name.endsWith(".sql"))
                        .forEach(names::add);
            }
        }
        return names;
    }
}
