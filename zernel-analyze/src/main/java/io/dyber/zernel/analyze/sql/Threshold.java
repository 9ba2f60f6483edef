package io.dyber.zernel.analyze.sql;

import io.dyber.zernel.format.Suggestion;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A number that a finding or view decides by: a column of its CTE `thresholds`.
///
/// @param name its name in the SQL
/// @param value its value as the SQL writes it
/// @param meaning its comment, with the unit
public record Threshold(String name, String value, String meaning) {
    private static final String VALUE = "true|false|\\d+(?:\\.\\d+)?(?:e-?\\d+)?";
    /// A parenthesis in a comment does not end it.
    private static final Pattern CTE = Pattern.compile("(?i)\\bthresholds AS \\(((?:--.*|[^()])*+)\\)");
    private static final Pattern COLUMN = Pattern.compile("(?i)\\b(" + VALUE + ") AS (\\w+)(?:,?[ \\t]*-- (.*))?");

    private static final Pattern FLAG = Pattern.compile("(?i)true|false");
    private static final Pattern NUMBER = Pattern.compile("(?i)" + VALUE);

    /// Those of a finding or view, in its order; none where it has no such CTE.
    public static List<Threshold> of(SqlObject object) {
        List<Threshold> thresholds = new ArrayList<>();
        Matcher cte = CTE.matcher(object.sql());
        if (cte.find()) {
            Matcher column = COLUMN.matcher(cte.group(1));
            while (column.find()) {
                String meaning = column.group(3);
                thresholds.add(new Threshold(column.group(2), column.group(1), meaning == null ? "" : meaning));
            }
        }
        return thresholds;
    }

    /// The object with another value of a threshold.
    ///
    /// @throws IllegalArgumentException if it has none of this name, or the value is not like the one that it has
    public static SqlObject set(SqlObject object, String name, String value) {
        List<String> names = of(object).stream().map(Threshold::name).toList();
        Threshold threshold = of(object).stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + object.name() + "' has no threshold '" + name + "'"
                        + (names.isEmpty() ? "" : ": " + Suggestion.hint(name, names))));
        boolean flag = FLAG.matcher(threshold.value()).matches();
        if (!(flag ? FLAG : NUMBER).matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "'" + value + "' is " + (flag ? "neither true nor false" : "not a number") + ": " + name + " is " + threshold.value());
        }
        return object.withSql(object.sql().replaceFirst(
                Pattern.quote(threshold.value() + " AS " + name), Matcher.quoteReplacement(value + " AS " + name)));
    }
}
