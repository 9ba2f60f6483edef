package io.dyber.zernel.analyze;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A number that a finding decides by: a column of its first CTE, `thresholds`.
///
/// @param name its name in the SQL
/// @param value its value as the SQL writes it
/// @param meaning its comment, with the unit
public record Threshold(String name, String value, String meaning) {
    private static final Pattern CTE = Pattern.compile("\\bthresholds AS \\(\\n?(.*?)\\n?    \\)", Pattern.DOTALL);
    private static final Pattern COLUMN = Pattern.compile("(?m)^\\s*(?:SELECT\\s+)?(\\S.*?) AS (\\w+),?(?:\\s+-- (.*))?$");

    /// Those of a finding, in its order; none where it has no such CTE.
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
}
