package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
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
/// @param kept by name of the view or finding, its rows in all files that hold them
public record Digests(List<AttachedRecording> recordings, List<Unread> unread, Map<String, Kept> kept) {
    /// The view that has a row for each finding of each digest.
    public static final String HELD_FINDINGS = "held_findings";

    /// A file that was left out.
    ///
    /// @param state damaged, foreign, duplicate or newer
    public record Unread(Path path, String state, String why) {}

    /// Whose digest a file is, and of when.
    ///
    /// @param host the machine; empty where the recording does not say
    /// @param recorder tells the recorders of a machine apart: the pid of its process, or else the recording's name
    /// @param startedNanos of the recording, or the part of it that was digested, since the epoch
    /// @param endedNanos the end of that
    public record Header(Path path, String host, String recorder, long startedNanos, long endedNanos) {}

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

    /// Reads whose digests files are, without their rows.
    ///
    /// @param unread gets the files that are none
    public static List<Header> headers(List<Path> paths, DuckDb duckDb, List<Unread> unread) {
        List<Path> whole = new ArrayList<>();
        for (Path path : paths) {
            try {
                ParquetRecording.checkIsParquet(path);
                whole.add(path);
            } catch (RecordingException e) {
                unread.add(new Unread(path, "damaged", why(e)));
            }
        }
        List<Header> headers = new ArrayList<>();
        if (!whole.isEmpty()) {
            footers(whole, unread, duckDb).forEach((path, footer) -> header(path, footer, headers, unread));
        }
        return headers;
    }

    private static void header(Path path, Map<String, String> footer, List<Header> headers, List<Unread> unread) {
        String said = footer.get(Footer.DIGEST);
        if (said == null) {
            unread.add(new Unread(path, "foreign", "it is no digest"));
            return;
        }
        try {
            Footer.Digest digest = Footer.digest(said);
            if (digest.format() > Footer.Digest.CURRENT_FORMAT) {
                unread.add(newer(path, digest));
                return;
            }
            Footer.About about = Footer.parse(Map.of(Footer.RECORDING, footer.getOrDefault(Footer.RECORDING, "{}"))).recording();
            String host = about.host();
            Long pid = about.recorderPid();
            headers.add(new Header(
                    path, host == null ? "" : host, pid == null ? digest.of() : "pid " + pid, about.startedNs(), about.endedNs()));
        } catch (RecordingException e) {
            unread.add(new Unread(path, "damaged", why(e)));
        }
    }

    static Unread newer(Path path, Footer.Digest digest) {
        return new Unread(path, "newer", "its format " + digest.format() + " is newer than " + Footer.Digest.CURRENT_FORMAT);
    }

    private static Digests open(List<Path> paths, List<Unread> unread, int first, DuckDb duckDb) {
        Map<Path, Map<String, String>> footers = footers(paths, unread, duckDb);
        DigestFooters sorted = DigestFooters.of(footers, unread, first);
        return new Digests(sorted.recordings(), sorted.unread(), kept(sorted.layouts()));
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

    static String why(RecordingException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("").replaceFirst("^opening '.*': ", "");
    }

    /// A part of all digests together.
    ///
    /// @param query its rows
    /// @param columns that any digest has of it
    public record Kept(String query, Set<String> columns) {
        /// The rows as a view or finding of this version has them: what digests of an earlier one lack is NULL.
        String rowsOf(SqlObject object) {
            String lacking = object.columns().keySet().stream()
                    .filter(column -> !columns.contains(column))
                    .map(column -> ", NULL AS " + DuckDb.identifier(column))
                    .collect(Collectors.joining());
            return lacking.isEmpty() ? query : "SELECT *" + lacking + " FROM (" + query + ")";
        }
    }

    private static Map<String, Kept> kept(List<DigestFooters.Layout> layouts) {
        Map<String, List<String>> selects = new TreeMap<>();
        Map<String, Set<String>> names = new HashMap<>();
        for (DigestFooters.Layout layout : layouts) {
            String source = "read_parquet(" + list(layout.paths()) + ", filename = '_file')";
            DigestColumns columns = new DigestColumns();
            for (Footer.DigestPart part : layout.digest().parts()) {
                List<DigestColumns.Column> its = columns.of(part);
                selects.computeIfAbsent(part.name(), _ -> new ArrayList<>()).add(select(part.name(), its, source));
                its.forEach(column -> names.computeIfAbsent(part.name(), _ -> new HashSet<>()).add(column.name()));
            }
        }
        Map<String, Kept> kept = new TreeMap<>();
        selects.forEach((name, queries) -> kept.put(
                name, new Kept(String.join("\nUNION ALL BY NAME\n", queries), names.getOrDefault(name, Set.of()))));
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
        List<String> findings = new ArrayList<>();
        kept.forEach((name, part) -> {
            @Nullable SqlObject object = library.find(name);
            if (object != null) {
                String query = part.rowsOf(object);
                held.add(object.holding(query));
                if (object.role() == SqlObject.Role.FINDING) {
                    findings.add(finding(name, query));
                }
            }
        });
        @Nullable SqlObject heldFindings = library.find(HELD_FINDINGS);
        if (heldFindings != null && !findings.isEmpty()) {
            held.add(heldFindings.holding(String.join("\nUNION ALL\n", findings)));
        }
        return library.holding(held);
    }

    private static String finding(String name, String query) {
        return "SELECT " + DuckDb.literal(name) + " AS finding, recording, pid, lost_ns FROM ("
                + "SELECT NULL::BIGINT AS recording, NULL::BIGINT AS pid, NULL::DOUBLE AS lost_ns WHERE FALSE UNION ALL BY NAME " + query + ")";
    }
}
