package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.format.Scaled;
import io.dyber.zernel.format.SizeText;
import io.dyber.zernel.format.TimeText;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/// Numbers as people read them, three significant digits.
public final class Quantity {
    /// Nanoseconds above this are a point in time since the epoch (1973 and later), below it a duration.
    private static final long FIRST_MOMENT_NS = 100_000_000_000_000_000L;

    private static final DateTimeFormatter MOMENT =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String[] POWER_UNITS = {"mW", "W", "kW"};
    private static final String[] ENERGY_UNITS = {"mJ", "J", "kJ", "MJ"};
    private static final Pattern UNIT =
            Pattern.compile("(\\d) (?=(ns|us|ms|s|m|B|kB|MB|GB|TB|KiB|MiB|GiB|mW|W|kW|mJ|J|kJ|MJ|MHz|C)\\b|%)");

    private Quantity() {}

    /// `1234567` is `1.23 ms`.
    public static String time(long nanos) {
        return TimeText.of(nanos);
    }

    /// Of a mean.
    public static String time(double nanos) {
        return TimeText.of(nanos);
    }

    /// `65536` is `65.5 kB`; decimal units.
    public static String size(long bytes) {
        return SizeText.of(bytes);
    }

    /// Of a mean.
    public static String size(double bytes) {
        return SizeText.of(bytes);
    }

    /// `1234567` is `1,234,567`.
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /// `1` and `call` are `1 call`, `1234` of them `1,234 calls`.
    public static String counted(long count, String noun) {
        return count(count) + " " + noun + (count == 1 ? "" : "s");
    }

    /// Text in which no line ends between a number and its unit: no-break spaces stand there.
    static String glued(String text) {
        return UNIT.matcher(text).replaceAll("$1\u00A0");
    }

    /// `0.314` is `31.4 %`.
    public static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    /// A share in a column; 0 when it is NULL.
    public static String percent(Table.Row row, String column) {
        Double share = row.real(column);
        return percent(share == null ? 0 : share);
    }

    /// A column's value by what its name says about the unit.
    static String ofColumn(String column, Number value) {
        if (column.endsWith("_ns") && value.longValue() > FIRST_MOMENT_NS) {
            return MOMENT.format(Instant.ofEpochSecond(0, value.longValue()));
        }
        if (column.endsWith("_ns")) {
            return time(value.doubleValue());
        }
        if (column.equals("bytes") || column.endsWith("_bytes")) {
            return size(value.doubleValue());
        }
        if (column.equals("share") || column.endsWith("_share")) {
            return percent(value.doubleValue());
        }
        return value instanceof Long integer ? Long.toString(integer) : String.format(Locale.ROOT, "%.4g", value.doubleValue());
    }

    /// The same in a row that says itself what its values are in, as those of the driver do.
    static String ofColumn(String column, Number value, Table table, Table.Row row) {
        int unit = table.columns().stream().map(Table.Column::name).toList().indexOf("unit");
        return unit >= 0 && column.endsWith("_value")
                ? ofUnit(value.doubleValue(), Objects.requireNonNullElse(row.values().get(unit), "").toString())
                : ofColumn(column, value);
    }

    /// A value of the driver's by the unit that it gives.
    static String ofUnit(double value, String unit) {
        return switch (unit) {
            case "bytes" -> size(value);
            case "bytes/s" -> size(value) + "/s";
            case "mW" -> Scaled.of(value, POWER_UNITS);
            case "mJ" -> Scaled.of(value, ENERGY_UNITS);
            case "percent" -> String.format(Locale.ROOT, "%.0f %%", value);
            default -> (value == Math.rint(value) ? count((long) value) : String.format(Locale.ROOT, "%.4g", value))
                    + (unit.isEmpty() || unit.equals("bits") ? "" : " " + unit);
        };
    }
}
