package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Rows written by hand in tests: each value a `Long`, a `String` or null.
public final class Events {
    static final List<Column> COLUMNS =
            List.of(
                    new Column("kind", ColumnType.VARCHAR, "", "what happened"),
                    new Column("name", ColumnType.VARCHAR, "", ""),
                    new Column("ts_ns", ColumnType.BIGINT, "ns", "start"),
                    new Column("dur_ns", ColumnType.BIGINT, "ns", ""),
                    new Column("tid", ColumnType.BIGINT, "", ""),
                    new Column("bytes", ColumnType.BIGINT, "bytes", ""),
                    new Column("path", ColumnType.VARCHAR, "", ""));

    private Events() {}

    /// Writes `rows` rows in batches of `batchRows`, each made by `row` from its number.
    public static void write(
            RecordingFile file, List<Column> columns, StringDictionary texts, long rows, int batchRows, LongFunction<Object[]> row) {
        Batch batch = new Batch(columns, batchRows);
        for (long i = 0; i < rows; i++) {
            add(batch, texts, row.apply(i));
            if (batch.isFull() || i == rows - 1) {
                file.write(batch);
                batch.clear();
            }
        }
    }

    public static void add(Batch batch, StringDictionary texts, @Nullable Object... values) {
        boolean hasKind = batch.columns().getFirst().name().equals("kind") && values[0] instanceof String;
        batch.addRow(hasKind ? texts.id(String.valueOf(values[0])) : -1);
        for (int c = 0; c < values.length; c++) {
            switch (values[c]) {
                case null -> {}
                case String text -> batch.put(c, texts.id(text));
                case Number number -> batch.put(c, number.longValue());
                default -> throw new IllegalArgumentException(Arrays.toString(values));
            }
        }
    }

    public static List<List<@Nullable Object>> rows(Batch batch, StringDictionary texts) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < batch.rows(); row++) {
            List<@Nullable Object> values = new ArrayList<>();
            for (int c = 0; c < batch.columns().size(); c++) {
                boolean text = batch.columns().get(c).type() == ColumnType.VARCHAR;
                Long value = batch.isNull(c, row) ? null : (Long) batch.value(c, row);
                values.add(value == null || !text ? value : texts.text(value.intValue()));
            }
            rows.add(values);
        }
        return rows;
    }
}
