package io.dyber.zernel.analyze.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A token of DuckDB's SQL: enough of its lexer to tell names from texts and comments.
///
/// @param text as it is written
/// @param begin its place in the SQL
/// @param closed false for a text, quoted name or comment that does not end
public record SqlToken(Kind kind, String text, int begin, boolean closed) {
    public enum Kind {
        /// A name or keyword.
        WORD,
        /// A name in double quotes.
        QUOTED_NAME,
        /// A text in single quotes or between dollars.
        TEXT,
        NUMBER,
        COMMENT,
        /// One character of anything else.
        SYMBOL
    }

    private static final Pattern WORD = Pattern.compile("[\\p{L}_\\x{80}-\\x{10FFFF}][\\p{L}\\p{Nd}_$\\x{80}-\\x{10FFFF}]*");
    private static final Pattern NUMBER = Pattern.compile("\\d[\\w.]*");
    private static final Pattern DOLLAR_QUOTE = Pattern.compile("\\$(?:[\\p{L}_][\\p{L}\\p{Nd}_]*)?\\$");

    /// All tokens; white space is none.
    public static List<SqlToken> of(String sql) {
        List<SqlToken> tokens = new ArrayList<>();
        int at = 0;
        while (at < sql.length()) {
            if (Character.isWhitespace(sql.charAt(at))) {
                at++;
            } else {
                SqlToken token = at(sql, at);
                tokens.add(token);
                at = token.end();
            }
        }
        return tokens;
    }

    /// All tokens but comments.
    public static List<SqlToken> withoutComments(String sql) {
        return of(sql).stream().filter(token -> token.kind() != Kind.COMMENT).toList();
    }

    /// The place behind it.
    public int end() {
        return begin + text.length();
    }

    /// Whether it is this keyword or symbol.
    public boolean is(String word) {
        return (kind == Kind.WORD || kind == Kind.SYMBOL) && text.equalsIgnoreCase(word);
    }

    /// Whether it may name something.
    public boolean isName() {
        return kind == Kind.WORD || kind == Kind.QUOTED_NAME;
    }

    /// The name that it is, or the text, without its quotes.
    public String value() {
        return switch (kind) {
            case QUOTED_NAME -> text.substring(1, text.length() - (closed ? 1 : 0)).replace("\"\"", "\"");
            case TEXT -> text.charAt(0) == '$'
                    ? text.substring(text.indexOf('$', 1) + 1, closed ? text.lastIndexOf('$', text.length() - 2) : text.length())
                    : text.substring(text.indexOf('\'') + 1, text.length() - (closed ? 1 : 0)).replace("''", "'");
            case WORD, NUMBER, COMMENT, SYMBOL -> text;
        };
    }

    private static SqlToken at(String sql, int at) {
        if (sql.startsWith("--", at)) {
            return upTo(sql, at, Kind.COMMENT, sql.indexOf('\n', at), 1);
        }
        if (sql.startsWith("/*", at)) {
            return upTo(sql, at, Kind.COMMENT, commentEnd(sql, at), 2);
        }
        char first = sql.charAt(at);
        if (first == '"') {
            return upTo(sql, at, Kind.QUOTED_NAME, quote(sql, at, '"', false), 1);
        }
        if (first == '\'') {
            return upTo(sql, at, Kind.TEXT, quote(sql, at, '\'', false), 1);
        }
        if ((first == 'e' || first == 'E') && sql.startsWith("'", at + 1)) {
            return upTo(sql, at, Kind.TEXT, quote(sql, at + 1, '\'', true), 1);
        }
        Matcher dollar = at(sql, at, DOLLAR_QUOTE);
        if (dollar.lookingAt()) {
            return upTo(sql, at, Kind.TEXT, sql.indexOf(dollar.group(), dollar.end()), dollar.group().length());
        }
        Matcher word = at(sql, at, WORD);
        if (word.lookingAt()) {
            return new SqlToken(Kind.WORD, word.group(), at, true);
        }
        Matcher number = at(sql, at, NUMBER);
        if (number.lookingAt()) {
            return new SqlToken(Kind.NUMBER, number.group(), at, true);
        }
        return new SqlToken(Kind.SYMBOL, sql.substring(at, at + 1), at, true);
    }

    private static Matcher at(String sql, int at, Pattern pattern) {
        return pattern.matcher(sql).region(at, sql.length());
    }

    /// @param last where its end begins, -1 where it has none
    private static SqlToken upTo(String sql, int at, Kind kind, int last, int endLength) {
        String text = last < 0 ? sql.substring(at) : sql.substring(at, last + endLength);
        return new SqlToken(kind, text, at, last >= 0);
    }

    /// Where a comment ends, in which others may begin and end.
    private static int commentEnd(String sql, int at) {
        int depth = 0;
        for (int i = at; i < sql.length() - 1; i++) {
            if (sql.startsWith("/*", i)) {
                depth++;
                i++;
            } else if (sql.startsWith("*/", i)) {
                depth--;
                if (depth == 0) {
                    return i;
                }
                i++;
            }
        }
        return -1;
    }

    /// Where a quote closes; a doubled one does not.
    private static int quote(String sql, int open, char quote, boolean backslashes) {
        for (int i = open + 1; i < sql.length(); i++) {
            if (backslashes && sql.charAt(i) == '\\') {
                i++;
            } else if (sql.charAt(i) == quote) {
                if (i + 1 == sql.length() || sql.charAt(i + 1) != quote) {
                    return i;
                }
                i++;
            }
        }
        return -1;
    }
}
