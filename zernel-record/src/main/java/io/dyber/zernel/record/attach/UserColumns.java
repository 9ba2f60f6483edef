package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import io.dyber.zernel.record.schema.Constant;
import io.dyber.zernel.record.schema.Schema;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The columns that the user's probes add to the table.
public final class UserColumns {
    private UserColumns() {}

    /// The columns that the probes of the user add to the schema.
    ///
    /// @throws RecorderException when a probe wants a text where the table has a number, or the other way round
    public static Collection<Column> of(List<ProbeSpec> probes) {
        Schema known = CompiledPrograms.schema(List.of());
        Map<String, Column> columns = new LinkedHashMap<>();
        for (ProbeSpec probe : probes) {
            for (Capture capture : probe.captures()) {
                add(columns, known, probe, capture.column(), capture.isText());
            }
            for (Constant constant : probe.constants()) {
                add(columns, known, probe, constant.column(), constant.isText());
            }
        }
        return columns.values();
    }

    private static void add(
            Map<String, Column> columns, Schema known, ProbeSpec probe, String name, boolean text) {
        ColumnType type = text ? ColumnType.VARCHAR : ColumnType.BIGINT;
        Column column = known.columns().stream()
                .filter(candidate -> candidate.name().equals(name))
                .findFirst()
                .orElseGet(() -> new Column(name, type, "", "as named with --probe"));
        Column earlier = columns.putIfAbsent(name, column);
        if (column.type() != type || (earlier != null && earlier.type() != type)) {
            throw new RecorderException(
                    "probing '" + probe.library() + "': column '" + name + "' holds a " + column.type() + ", not a "
                            + type,
                    "choose another column name");
        }
    }
}
