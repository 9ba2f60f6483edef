package io.dyber.zernel.analyze.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The columns that a recording of this version has: `bpf/schema.sql`, copied into the jar by the build.
///
/// Shipped SQL may use all of them; a column that a recording lacks reads as NULL.
public final class GoldenSchema {
    private static final Pattern COLUMN = Pattern.compile("^ {4}\"?(\\w+)\"? (\\w+)( NOT NULL)?,?( --.*)?$");

    private GoldenSchema() {}

    public record Column(String name, String type, boolean required) {}

    public static List<Column> columns() {
        List<Column> columns = new ArrayList<>();
        for (String line : text().lines().toList()) {
            Matcher matcher = COLUMN.matcher(line);
            if (matcher.matches()) {
                columns.add(new Column(matcher.group(1), matcher.group(2), matcher.group(3) != null));
            }
        }
        return columns;
    }

    public static String text() {
        return ShippedSql.read("schema.sql");
    }
}
