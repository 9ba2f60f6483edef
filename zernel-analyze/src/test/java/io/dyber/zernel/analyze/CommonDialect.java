package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.SqlToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;

/// What views that say `dialect: common` keep to, because Spark runs their text too: zernel-spark tests that the rows are the
/// same, and this tells without Spark what it does not know, or means otherwise.
@NullMarked
final class CommonDialect {
    /// Words, and what to write instead.
    private static final Map<String, String> WORDS = words();
    /// Symbols that stand beside each other, or alone.
    private static final Map<String, String> SYMBOLS = Map.of(
            "::", "CAST(... AS ...)",
            "//", "CAST(floor(a / b) AS BIGINT)",
            "[", "a column for each value",
            "{", "a column for each value",
            "->", "columns of their own");
    /// Not of the dialect, and without rows in Spark: see docs/fleet.md.
    private static final Set<String> ONLY_HERE = Set.of("_wait_arrivals");

    private CommonDialect() {}

    private static Map<String, String> words() {
        Map<String, String> words = new TreeMap<>();
        words.put("asof", "a window over both sides together");
        words.put("qualify", "a subquery");
        words.put("exclude", "the columns by name");
        words.put("any_value", "min or max: Spark's may be NULL where another is not");
        words.put("arg_max", "max_by, of what is never NULL: Spark does not leave out NULL");
        words.put("arg_min", "min_by, of what is never NULL: Spark does not leave out NULL");
        words.put("quantile_cont", "percentile_cont(q) WITHIN GROUP (ORDER BY ...)");
        words.put("quantile_disc", "percentile_disc(q) WITHIN GROUP (ORDER BY ...)");
        words.put("mad", "percentile_cont of the deviations");
        words.put("unnest", "a join");
        words.put("range", "a join");
        words.put("list", "a column for each value");
        words.put("format", "columns, and the text where it is shown");
        words.put("varchar", "STRING");
        words.put("hugeint", "BIGINT");
        words.put("recursive", "a join");
        words.put("window", "each window in its OVER");
        words.put("positional", "a join");
        words.put("first_value", "min or max");
        words.put("last_value", "min or max");
        return words;
    }

    /// What Spark cannot run of an object, or runs otherwise.
    static List<String> breaches(SqlObject object, SqlLibrary library) {
        List<String> breaches = new ArrayList<>();
        if (!object.isCommon()) {
            return breaches;
        }
        List<SqlToken> tokens = SqlToken.withoutComments(object.sql());
        Set<String> macros = macros();
        for (int i = 0; i < tokens.size(); i++) {
            SqlToken token = tokens.get(i);
            String word = token.text().toLowerCase(Locale.ROOT);
            if (token.kind() == SqlToken.Kind.WORD && WORDS.containsKey(word)) {
                breaches.add("Spark does not know '" + word + "' as DuckDB does: write " + WORDS.get(word));
            } else if (token.kind() == SqlToken.Kind.WORD && macros.contains(word)) {
                breaches.add("Spark does not know the macro '" + word + "'");
            } else if (token.kind() == SqlToken.Kind.QUOTED_NAME) {
                breaches.add("to Spark " + token.text() + " is a text and no name");
            }
            String pair = i + 1 < tokens.size() && tokens.get(i + 1).begin() == token.end() ? token.text() + tokens.get(i + 1).text() : "";
            SYMBOLS.forEach((symbol, instead) -> {
                if (token.kind() == SqlToken.Kind.SYMBOL && (symbol.equals(token.text()) || symbol.equals(pair))) {
                    breaches.add("Spark does not know '" + symbol + "': write " + instead);
                }
            });
            String third = i + 2 < tokens.size() ? tokens.get(i + 2).text() : "";
            if (token.is("FILTER") && !third.equalsIgnoreCase("WHERE")) {
                breaches.add("Spark wants FILTER (WHERE ...)");
            } else if (token.is("OVER") && !Set.of("PARTITION", "ORDER", ")").contains(third.toUpperCase(Locale.ROOT))) {
                breaches.add("Spark wants the whole window in OVER (...)");
            } else if (token.is("FROM") && i > 0 && tokens.get(i - 1).is("(")) {
                breaches.add("Spark wants SELECT before FROM");
            } else if (token.is("BY") && i > 0 && tokens.get(i - 1).is("ALL")) {
                breaches.add("Spark does not know UNION ALL BY NAME");
            }
        }
        for (String name : object.needs()) {
            SqlObject needed = library.find(name);
            if (needed != null && !needed.isCommon() && !needed.isKept() && !needed.isOfFooter()
                    && !name.equals("held_findings") && !ONLY_HERE.contains(name)) {
                breaches.add("it reads '" + name + "', which is neither in digests nor of the common dialect");
            }
        }
        return breaches;
    }

    private static Set<String> macros() {
        return Pattern.compile("(?im)^CREATE (?:OR REPLACE )?(?:TEMP )?MACRO (\\w+)").matcher(SqlLibrary.prelude()).results()
                .map(match -> match.group(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
