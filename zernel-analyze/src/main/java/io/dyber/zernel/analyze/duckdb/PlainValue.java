package io.dyber.zernel.analyze.duckdb;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Array;
import java.sql.Blob;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBStruct;
import org.jspecify.annotations.Nullable;

/// A value of a result as a [Table] holds it.
final class PlainValue {
    /// A double holds so many decimal digits.
    private static final int EXACT_DIGITS = 15;

    private PlainValue() {}

    static @Nullable Object of(@Nullable Object value) throws SQLException {
        return switch (value) {
            case null -> null;
            case Boolean flag -> flag;
            case Float real -> (Object) real.doubleValue();
            case Double real -> real;
            case BigDecimal real -> real.precision() <= EXACT_DIGITS ? (Object) real.doubleValue() : real;
            case BigInteger integer -> integer.bitLength() < 64 ? (Object) integer.longValue() : integer;
            case Number integer -> integer.longValue();
            case Array array -> {
                List<@Nullable Object> items = new ArrayList<>();
                for (Object item : Arrays.asList((Object[]) array.getArray())) {
                    items.add(of(item));
                }
                yield items;
            }
            case DuckDBStruct struct -> members(struct.getMap());
            case Map<?, ?> map -> members(map);
            case LocalDateTime time -> DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(time).replace('T', ' ');
            case Blob blob -> text(blob.getBytes(1, (int) blob.length()));
            default -> value.toString();
        };
    }

    private static Map<String, @Nullable Object> members(Map<?, ?> map) throws SQLException {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        for (Map.Entry<?, ?> member : map.entrySet()) {
            members.put(String.valueOf(of(member.getKey())), of(member.getValue()));
        }
        return members;
    }

    /// Bytes as DuckDB shows them.
    private static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            boolean plain = b >= ' ' && b <= '~' && b != '\\' && b != '\'' && b != '"';
            text.append(plain ? Character.toString(b) : String.format("\\x%02X", b));
        }
        return text.toString();
    }
}
