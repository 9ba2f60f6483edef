package io.dyber.zernel.analyze.cli;

import java.util.ArrayList;
import java.util.List;

/// SQL text as statements, which end with `;` outside of quotes and comments.
final class Statements {
    private Statements() {}

    /// Where the first statement ends, behind its `;`; -1 when it does not.
    static int end(String sql) {
        for (int i = 0; i < sql.length(); ) {
            if (sql.charAt(i) == ';') {
                return i + 1;
            }
            i = skip(sql, i);
            if (i < 0) {
                return -1;
            }
        }
        return -1;
    }

    /// All statements, the last one also without its `;`; what holds only comments and space is none.
    static List<String> of(String sql) {
        List<String> statements = new ArrayList<>();
        String rest = sql;
        while (!isBlank(rest)) {
            int end = end(rest);
            String statement = end < 0 ? rest : rest.substring(0, end - 1);
            if (!isBlank(statement)) {
                statements.add(statement.strip());
            }
            rest = end < 0 ? "" : rest.substring(end);
        }
        return statements;
    }

    private static boolean isBlank(String sql) {
        for (int i = 0; i >= 0 && i < sql.length(); i = skip(sql, i)) {
            boolean comment = sql.startsWith("--", i) || sql.startsWith("/*", i);
            if (!comment && !Character.isWhitespace(sql.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /// The place behind the character, quoted text or comment at a place; -1 when that does not end.
    private static int skip(String sql, int at) {
        if (sql.startsWith("--", at)) {
            return after(sql, "\n", at);
        }
        if (sql.startsWith("/*", at)) {
            return after(sql, "*/", at + 2);
        }
        char quote = sql.charAt(at);
        // A doubled quote ends one text and begins the next, which comes to the same.
        return quote == '\'' || quote == '"' ? after(sql, String.valueOf(quote), at + 1) : at + 1;
    }

    private static int after(String sql, String end, int from) {
        int place = sql.indexOf(end, from);
        return place < 0 ? -1 : place + end.length();
    }
}
