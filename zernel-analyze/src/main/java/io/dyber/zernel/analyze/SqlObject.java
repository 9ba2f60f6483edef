package io.dyber.zernel.analyze;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// One `.sql` file of the library, named after its file.
///
/// The comment at its top is its documentation: the first sentence is the title, paragraphs say why it matters, and
/// lines `key: value` hold `needs` (what it reads), for findings also `severity` and `hint`.
///
/// @param name the object it defines
/// @param role what it is for
/// @param title one sentence
/// @param why why it matters and how it is computed, may have several lines
/// @param keys the `key: value` lines
/// @param sql the whole file
/// @param origin where the file came from, for messages
public record SqlObject(
        String name, Role role, String title, String why, Map<String, String> keys, String sql, String origin) {
    private static final Pattern KEY = Pattern.compile("(needs|severity|hint): (.+)");

    private static final Pattern LINE = Pattern.compile("(?m)^LINE (\\d+): ");

    /// What an object is for.
    public enum Role {
        /// A relation that other SQL reads.
        VIEW,
        /// A query whose rows are evidence of a problem.
        FINDING
    }

    /// The tables and views that it reads, from its header.
    public List<String> needs() {
        String needs = keys.getOrDefault("needs", "");
        return needs.isBlank() ? List.of() : List.of(needs.split(" *, *"));
    }

    /// The SQL below the comment at its top, with which DuckDB would count lines wrong.
    String statement() {
        return sql.lines().skip(headLines()).collect(Collectors.joining("\n"));
    }

    SqlObject withSql(String other) {
        return new SqlObject(name, role, title, why, keys, other, origin);
    }

    private long headLines() {
        return sql.lines().takeWhile(line -> line.isBlank() || line.startsWith("--")).count();
    }

    /// An error of its SQL as one line that names the file and, where DuckDB says it, the line.
    RecordingException failed(String doing, RecordingException cause) {
        String message = String.valueOf(cause.getMessage());
        // What a view that it reads says of itself is about that file's lines.
        Matcher line = LINE.matcher(message.startsWith("creating ") ? "" : message);
        String place = line.find() ? origin + ":" + (headLines() + Integer.parseInt(line.group(1))) : origin;
        String why = message.lines().findFirst().orElse("").replaceFirst("^running a query: ", "");
        return new RecordingException(doing + " '" + name + "' of " + place + ": " + why, cause.hint(), cause);
    }

    static SqlObject parse(String name, Role role, String sql, String origin) {
        List<String> comment = sql.lines()
                .takeWhile(line -> line.startsWith("--"))
                .map(line -> line.substring(2).strip())
                .toList();
        Map<String, String> keys = new LinkedHashMap<>();
        List<String> prose = new ArrayList<>();
        for (String line : comment) {
            Matcher key = KEY.matcher(line);
            if (key.matches()) {
                keys.put(key.group(1), key.group(2).strip());
            } else {
                prose.add(line);
            }
        }
        String text = String.join("\n", prose).strip();
        int end = text.replace('\n', ' ').indexOf(". ");
        String title = end < 0 ? text : text.substring(0, end + 1);
        String why = end < 0 ? "" : text.substring(end + 1).strip();
        return new SqlObject(name, role, title.replace('\n', ' '), why, keys, sql, origin);
    }
}
