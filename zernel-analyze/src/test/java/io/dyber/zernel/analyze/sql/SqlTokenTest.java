package io.dyber.zernel.analyze.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.junit.jupiter.api.Test;

final class SqlTokenTest {
    @Test
    void namesTextsAndCommentsAreTold() {
        assertThat(SqlToken.of("SELECT a.\"b\"\"c\", 1e9, 'it''s' -- x\n/* y */FROM größe_2$"))
                .extracting(SqlToken::kind, SqlToken::value)
                .containsExactly(
                        tuple(SqlToken.Kind.WORD, "SELECT"),
                        tuple(SqlToken.Kind.WORD, "a"),
                        tuple(SqlToken.Kind.SYMBOL, "."),
                        tuple(SqlToken.Kind.QUOTED_NAME, "b\"c"),
                        tuple(SqlToken.Kind.SYMBOL, ","),
                        tuple(SqlToken.Kind.NUMBER, "1e9"),
                        tuple(SqlToken.Kind.SYMBOL, ","),
                        tuple(SqlToken.Kind.TEXT, "it's"),
                        tuple(SqlToken.Kind.COMMENT, "-- x\n"),
                        tuple(SqlToken.Kind.COMMENT, "/* y */"),
                        tuple(SqlToken.Kind.WORD, "FROM"),
                        tuple(SqlToken.Kind.WORD, "größe_2$"));
    }

    @Test
    void textsBetweenDollarsAndWithBackslashesEndWhereDuckDbEndsThem() {
        assertThat(values("$$a;'b$$ $t$c $$ d$t$ $1 E'it\\'s' e'x''y'"))
                .containsExactly("a;'b", "c $$ d", "$", "1", "it\\'s", "x'y");
    }

    @Test
    void whatDoesNotEndIsNotClosed() {
        for (String open : List.of("'a", "\"a", "$$a$", "/* a", "/* /* */", "E'a\\'", "-- a")) {
            assertThat(SqlToken.of(open)).as(open).hasSize(1).first().extracting(SqlToken::closed).isEqualTo(false);
        }
        assertThat(values("'a''b")).containsExactly("a'b");
    }

    @Test
    void statementsAreSplitOutsideOfTextsOnly() {
        assertThat(Statements.of("SELECT $$;$$ AS a; SELECT 1 /* ; /* */ ; */; SELECT E'\\';' AS b;;"))
                .containsExactly("SELECT $$;$$ AS a", "SELECT 1 /* ; /* */ ; */", "SELECT E'\\';' AS b");
    }

    private static List<String> values(String sql) {
        return SqlToken.of(sql).stream().map(SqlToken::value).toList();
    }
}
