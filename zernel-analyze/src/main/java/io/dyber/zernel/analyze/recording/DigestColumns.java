package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.format.Footer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Where the columns of a digest's parts are in its file: those of one name and one type are one column, whatever part they
/// are of. Writers and readers go through the parts in the same order and so come to the same.
public final class DigestColumns {
    private static final String USUAL = "BIGINT";
    private static final Set<String> INTEGERS =
            Set.of("TINYINT", "SMALLINT", "INTEGER", USUAL, "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT");

    private final Map<String, String> types = new HashMap<>();

    /// A column of a view.
    ///
    /// @param type in DuckDB
    /// @param place name of the column in the file
    /// @param stored type of that
    public record Column(String name, String type, String place, String stored) {
        /// As [Footer.DigestPart] has it.
        public String text() {
            return type.equals(USUAL) ? name : name + " " + type;
        }
    }

    /// The next part's columns.
    public List<Column> of(Footer.DigestPart part) {
        List<Column> columns = new ArrayList<>();
        for (String text : part.columns()) {
            int space = text.indexOf(' ');
            columns.add(next(space < 0 ? text : text.substring(0, space), space < 0 ? USUAL : text.substring(space + 1)));
        }
        return columns;
    }

    /// The next column.
    public Column next(String name, String type) {
        String stored = stored(type);
        String first = types.computeIfAbsent(name, _ -> stored);
        return new Column(name, type, first.equals(stored) ? name : name + " " + stored, stored);
    }

    /// Parquet has no integers of 128 bits; smaller ones take no more room as larger ones.
    private static String stored(String type) {
        if (type.startsWith("ENUM")) {
            return "VARCHAR";
        }
        return INTEGERS.contains(type) ? USUAL : type.equals("FLOAT") ? "DOUBLE" : type;
    }
}
