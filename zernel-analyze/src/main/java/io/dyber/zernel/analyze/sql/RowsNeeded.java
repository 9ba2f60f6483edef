package io.dyber.zernel.analyze.sql;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What has to have rows for a view or finding to have one, and its columns: one that cannot have any is not computed.
///
/// Most of what the library looks for a recording has no event of, and DuckDB takes as long to plan a statement about nothing.
/// `sql/rows.txt` is derived from the syntax trees of the statements (RowsNeededTest), never written by hand.
///
/// @param groups of each group, one relation has to have a row: views, or kinds of events as `events.kind`; what is soonest known
///     comes first
/// @param columns with their types, as CREATE TABLE takes them; empty for a finding
public record RowsNeeded(List<List<String>> groups, String columns) {
    /// Of what may have rows whatever was recorded.
    public static final RowsNeeded NONE = new RowsNeeded(List.of(), "");
    /// What names of kinds begin with.
    public static final String KIND = "events.";

    /// Those of the library in the jar, by the names of what they are of.
    static Map<String, RowsNeeded> shipped() {
        return ShippedSql.read("rows.txt")
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("\t", -1))
                .collect(Collectors.toMap(fields -> fields[0], fields -> new RowsNeeded(groups(fields[1]), fields[2])));
    }

    private static List<List<String>> groups(String text) {
        return Stream.of(text.split(", ")).map(group -> List.of(group.split(" or "))).toList();
    }

    /// As a line of the file, without the name.
    @Override
    public String toString() {
        return groups.stream().map(group -> String.join(" or ", group)).collect(Collectors.joining(", ")) + "\t" + columns;
    }
}
