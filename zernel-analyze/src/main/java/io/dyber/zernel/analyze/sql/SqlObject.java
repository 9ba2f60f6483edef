package io.dyber.zernel.analyze.sql;

import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// One view or finding of the library: a statement of a `.sql` file, with the comment above it.
///
/// The comment is its documentation: the first sentence is the title, paragraphs say why it matters, and
/// lines `key: value` hold `needs` (what it reads, in one line or more, or `nothing`), for findings also `severity`, `hint`
/// and `lines` ([LineRule], one or more), for views also `digest`: `kept`, where a digest holds its rows, or `footer`, where it
/// is made of what digests hold of the footer, and `dialect`: `common`, where Spark runs it as well as DuckDB.
///
/// @param name the object it defines
/// @param role what it is for
/// @param title one sentence
/// @param why why it matters and how it is computed, may have several lines
/// @param keys the `key: value` lines
/// @param sql the statement and the comment above it
/// @param origin where the file came from, for messages
/// @param line of the file at which it begins, from 1
public record SqlObject(
        String name, Role role, String title, String why, Map<String, String> keys, String sql, String origin, int line) {
    private static final Pattern KEY = Pattern.compile("(needs|severity|hint|lines|digest|dialect): (.+)");

    private static final Pattern CREATE = Pattern.compile(
            "(?im)^\\s*create\\s+(?:or\\s+replace\\s+)?(?:temp(?:orary)?\\s+)?(?:table|view|macro)\\s+(?:if\\s+not\\s+exists\\s+)?\"?(\\w+)");
    private static final Pattern STATEMENT_END = Pattern.compile("(?<=;)\n\n(?=-- )");

    private static final Pattern COLUMN = Pattern.compile("(?m)\\b(\\w+),?[ \\t]+-- (\\S.*)$");

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
        return needs.isBlank() || needs.equals("nothing") ? List.of() : List.of(needs.split(" *, *"));
    }

    /// Whether a digest holds its rows.
    public boolean isKept() {
        return "kept".equals(keys.get("digest"));
    }

    /// Whether it can be made of a digest's footer.
    public boolean isOfFooter() {
        return "footer".equals(keys.get("digest"));
    }

    /// Whether its text is in the dialect that DuckDB and Spark have in common.
    public boolean isCommon() {
        return "common".equals(keys.get("dialect"));
    }

    /// The same, with rows that are there already.
    ///
    /// @param query their source; a finding is that query, a view a table of its result
    public SqlObject holding(String query) {
        String kept = role == Role.VIEW ? "CREATE TABLE " + name + " AS " + query : query;
        return new SqlObject(name, role, title, why, keys.containsKey("hint") ? Map.of("hint", keys.get("hint")) : Map.of(), kept, origin, line);
    }

    /// What its last SELECT says of each column that it comments, in its order.
    public Map<String, String> columns() {
        String select = sql.substring(Math.max(0, sql.lastIndexOf("\nSELECT\n")));
        Map<String, String> columns = new LinkedHashMap<>();
        COLUMN.matcher(select).results().forEach(column -> columns.putIfAbsent(column.group(1), column.group(2)));
        return columns;
    }

    /// The SQL below the comment at its top, with which DuckDB would count lines wrong.
    public String statement() {
        return sql.lines().skip(headLines()).collect(Collectors.joining("\n"));
    }

    SqlObject withSql(String other) {
        return new SqlObject(name, role, title, why, keys, other, origin, line);
    }

    private long headLines() {
        return sql.lines().takeWhile(line -> line.isBlank() || line.startsWith("--")).count();
    }

    /// An error of its SQL as one line that names the file and, where DuckDB says it, the line.
    public RecordingException failed(String doing, RecordingException cause) {
        String message = String.valueOf(cause.getMessage());
        // What a view that it reads says of itself is about that file's lines.
        Matcher at = LINE.matcher(message.startsWith("creating ") ? "" : message);
        String place = at.find() ? origin + ":" + (line + headLines() - 1 + Integer.parseInt(at.group(1))) : origin;
        String why = message.lines().findFirst().orElse("").replaceFirst("^running a query: ", "");
        return new RecordingException(doing + " '" + name + "' of " + place + ": " + why, cause.hint(), cause);
    }

    /// The objects of a file: the last is the one that it is named after, those before are views that only this one needs.
    ///
    /// @param role of the last
    static List<SqlObject> parseFile(String name, Role role, String text, String origin) {
        List<SqlObject> objects = new ArrayList<>();
        int line = 1;
        List<String> statements = List.of(STATEMENT_END.split(text));
        for (String helper : statements.subList(0, statements.size() - 1)) {
            objects.add(parse(createdBy(helper).orElse(""), Role.VIEW, helper, origin, line));
            line += (int) helper.lines().count() + 1;
        }
        objects.add(parse(name, role, statements.getLast(), origin, line));
        return objects;
    }

    /// The name of the view, table or macro that a statement creates.
    static Optional<String> createdBy(String sql) {
        return CREATE.matcher(sql).results().findFirst().map(match -> match.group(1).toLowerCase(Locale.ROOT));
    }

    public static SqlObject parse(String name, Role role, String sql, String origin, int line) {
        List<String> comment = sql.lines()
                .takeWhile(text -> text.startsWith("--"))
                .map(text -> text.substring(2).strip())
                .toList();
        Map<String, String> keys = new LinkedHashMap<>();
        List<String> prose = new ArrayList<>();
        for (String text : comment) {
            Matcher key = KEY.matcher(text);
            if (key.matches()) {
                keys.merge(key.group(1), key.group(2).strip(), (one, more) -> one + (key.group(1).equals("lines") ? "\n" : ", ") + more);
            } else {
                prose.add(text);
            }
        }
        String whole = String.join("\n", prose).strip();
        int end = whole.replace('\n', ' ').indexOf(". ");
        String title = end < 0 ? whole : whole.substring(0, end + 1);
        String why = end < 0 ? "" : whole.substring(end + 1).strip();
        return new SqlObject(name, role, title.replace('\n', ' '), why, keys, sql, origin, line);
    }
}
