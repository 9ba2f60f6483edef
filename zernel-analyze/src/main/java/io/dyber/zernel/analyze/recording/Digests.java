package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Digests, opened together: files that hold, instead of events, the rows of views and findings that were computed from
/// them.
///
/// Of thousands of files some are damaged, were copied twice or are something else: these are left out and told, and do not
/// stop the others.
///
/// @param recordings what the digests are of
/// @param unread files that were left out
/// @param kept by name of the view or finding, the query that reads its rows from all files that hold them
public record Digests(List<AttachedRecording> recordings, List<Unread> unread, Map<String, String> kept) {
    /// A file that was left out.
    ///
    /// @param state damaged, foreign, duplicate or newer
    public record Unread(Path path, String state, String why) {}

    /// Files with the same columns.
    private record Layout(Footer.Digest digest, List<Path> paths) {}

    /// Opens files as digests, if one of them is one.
    ///
    /// @param first the number of the first recording
    public static Optional<Digests> open(List<Path> paths, int first, DuckDb duckDb) {
        List<Unread> unread = new ArrayList<>();
        List<Path> whole = new ArrayList<>();
        for (Path path : paths) {
            try {
                ParquetRecording.checkIsParquet(path);
                whole.add(path);
            } catch (RecordingException e) {
                unread.add(new Unread(path, "damaged", why(e)));
            }
        }
        return whole.stream().anyMatch(path -> ParquetRecording.footerHas(path, Footer.DIGEST))
                ? Optional.of(open(whole, unread, first, duckDb))
                : Optional.empty();
    }

    private static Digests open(List<Path> paths, List<Unread> unread, int first, DuckDb duckDb) {
        Map<Path, Map<String, String>> footers = footers(paths, unread, duckDb);
        List<AttachedRecording> recordings = new ArrayList<>();
        Map<String, Layout> layouts = new LinkedHashMap<>();
        Map<Map<String, String>, Path> seen = new HashMap<>();
        footers.forEach((path, footer) -> {
            String said = footer.get(Footer.DIGEST);
            Path same = seen.putIfAbsent(footer, path);
            if (said == null) {
                unread.add(new Unread(path, "foreign", "it is no digest"));
            } else if (same != null) {
                unread.add(new Unread(path, "duplicate", "the same as " + same));
            } else {
                add(path, footer, said, layouts, unread, recordings, first);
            }
        });
        if (recordings.isEmpty()) {
            Unread one = unread.getFirst();
            throw new RecordingException("opening '" + one.path() + "': " + one.why(), null);
        }
        return new Digests(recordings, unread, kept(layouts.values()));
    }

    private static void add(
            Path path,
            Map<String, String> footer,
            String said,
            Map<String, Layout> layouts,
            List<Unread> unread,
            List<AttachedRecording> recordings,
            int first) {
        try {
            Layout layout = layouts.computeIfAbsent(said.replaceFirst("\"of\":\"[^\"]*\"", ""), _ -> new Layout(Footer.digest(said), new ArrayList<>()));
            if (layout.digest().format() > Footer.Digest.CURRENT_FORMAT) {
                unread.add(new Unread(path, "newer", "its format " + layout.digest().format() + " is newer than " + Footer.Digest.CURRENT_FORMAT));
                return;
            }
            Footer.About about = Footer.parse(Map.of(Footer.RECORDING, footer.getOrDefault(Footer.RECORDING, "{}"))).recording();
            Map<String, String> metadata = new HashMap<>(footer);
            metadata.remove(Footer.DIGEST);
            layout.paths().add(path);
            recordings.add(new AttachedRecording(
                    new Recording(
                            first + recordings.size(), path, Recording.State.DIGEST, about.events(), metadata, note(Footer.digest(said))),
                    List.of()));
        } catch (RecordingException e) {
            unread.add(new Unread(path, "damaged", why(e)));
        }
    }

    private static String note(Footer.Digest digest) {
        String skipped = String.join(", ", new TreeSet<>(digest.skipped().keySet()));
        return "digest of " + digest.of() + (skipped.isEmpty() ? "" : "; could not run: " + skipped);
    }

    /// The footers of all files, by one query, or where that fails of each by its own.
    private static Map<Path, Map<String, String>> footers(List<Path> paths, List<Unread> unread, DuckDb duckDb) {
        try {
            return metadata(paths, duckDb);
        } catch (RecordingException _) {
            Map<Path, Map<String, String>> footers = new LinkedHashMap<>();
            for (Path path : paths) {
                try {
                    footers.putAll(metadata(List.of(path), duckDb));
                } catch (RecordingException e) {
                    unread.add(new Unread(path, "damaged", why(e)));
                }
            }
            return footers;
        }
    }

    private static Map<Path, Map<String, String>> metadata(List<Path> paths, DuckDb duckDb) {
        Map<Path, Map<String, String>> footers = new LinkedHashMap<>();
        paths.forEach(path -> footers.put(path, new HashMap<>()));
        String sql = "SELECT file_name, decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(" + list(paths)
                + ") WHERE starts_with(decode(key), 'zernel.')";
        for (Table.Row row : duckDb.query(sql).rows()) {
            Path path = Path.of(row.requiredText("file_name"));
            Map<String, String> footer = footers.get(path);
            if (footer != null) {
                footer.put(row.requiredText("key"), row.requiredText("value"));
            }
        }
        return footers;
    }

    private static String list(List<Path> paths) {
        return paths.stream().map(DuckDb::pathLiteral).collect(Collectors.joining(", ", "[", "]"));
    }

    private static String why(RecordingException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("").replaceFirst("^opening '.*': ", "");
    }

    private static Map<String, String> kept(Collection<Layout> layouts) {
        Map<String, List<String>> selects = new TreeMap<>();
        for (Layout layout : layouts) {
            if (layout.paths().isEmpty()) {
                continue;
            }
            String source = "read_parquet(" + list(layout.paths()) + ", filename = '_file')";
            DigestColumns columns = new DigestColumns();
            for (Footer.DigestPart part : layout.digest().parts()) {
                selects.computeIfAbsent(part.name(), _ -> new ArrayList<>()).add(select(part.name(), columns.of(part), source));
            }
        }
        Map<String, String> kept = new TreeMap<>();
        selects.forEach((name, queries) -> kept.put(name, String.join("\nUNION ALL BY NAME\n", queries)));
        return kept;
    }

    private static String select(String part, List<DigestColumns.Column> columns, String source) {
        return columns.stream()
                .map(Digests::column)
                .collect(Collectors.joining(", ", "SELECT ", " FROM " + source + " AS digests JOIN files ON files.path = digests._file"
                        + " WHERE digests.part = " + DuckDb.literal(part)));
    }

    private static String column(DigestColumns.Column column) {
        String name = DuckDb.identifier(column.name());
        return column.name().equals("recording")
                ? "files.recording AS recording"
                : "CAST(digests." + DuckDb.identifier(column.place()) + " AS " + column.type() + ") AS " + name;
    }

    /// A library whose views and findings have the rows of the digests.
    public SqlLibrary in(SqlLibrary library) {
        List<SqlObject> held = new ArrayList<>();
        kept.forEach((name, query) -> {
            @Nullable SqlObject object = library.find(name);
            if (object != null) {
                held.add(object.holding(query));
            }
        });
        return library.holding(held);
    }
}
