package io.dyber.zernel.analyze.sql;

import java.util.ArrayList;
import java.util.List;

/// SQL text as statements, which end with `;` outside of quotes and comments.
public final class Statements {
    private Statements() {}

    /// Where the first statement ends, behind its `;`; -1 when it does not.
    public static int end(String sql) {
        return SqlToken.of(sql).stream().filter(token -> token.is(";")).findFirst().map(SqlToken::end).orElse(-1);
    }

    /// All statements, the last one also without its `;`; what holds only comments and space is none.
    public static List<String> of(String sql) {
        List<String> statements = new ArrayList<>();
        int begin = 0;
        boolean blank = true;
        for (SqlToken token : SqlToken.of(sql)) {
            if (!token.is(";")) {
                blank &= token.kind() == SqlToken.Kind.COMMENT;
                continue;
            }
            if (!blank) {
                statements.add(sql.substring(begin, token.begin()).strip());
            }
            begin = token.end();
            blank = true;
        }
        if (!blank) {
            statements.add(sql.substring(begin).strip());
        }
        return statements;
    }
}
