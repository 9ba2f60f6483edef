package io.dyber.zernel.serve.source;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.jspecify.annotations.Nullable;

/// Reads the rows of Arrow batches, as DuckDB exports them (plain strings) and as the journal holds them (strings of
/// one shared dictionary that only grows), into an [EventBatch].
final class ArrowRows {
    private final VectorSchemaRoot root;
    private final DictionaryProvider dictionaries;
    private final Map<LongColumn, BaseIntVector> longs = new EnumMap<>(LongColumn.class);
    private final Map<TextColumn, FieldVector> texts = new EnumMap<>(TextColumn.class);
    private final List<String> words = new ArrayList<>();

    ArrowRows(VectorSchemaRoot root, DictionaryProvider dictionaries) {
        this.root = root;
        this.dictionaries = dictionaries;
        for (LongColumn column : LongColumn.values()) {
            if (vectorOf(column.column()) instanceof BaseIntVector numbers) {
                longs.put(column, numbers);
            }
        }
        for (TextColumn column : TextColumn.values()) {
            FieldVector strings = vectorOf(column.column());
            if (strings != null) {
                texts.put(column, strings);
            }
        }
    }

    private @Nullable FieldVector vectorOf(String column) {
        return root.getFieldVectors().stream()
                .filter(vector -> vector.getName().equals(column))
                .findFirst()
                .orElse(null);
    }

    /// The rows of the batch that is loaded now.
    int rows() {
        return root.getRowCount();
    }

    long tsNanos(int row) {
        BaseIntVector starts = longs.get(LongColumn.TS_NS);
        return starts == null || starts.isNull(row) ? 0 : starts.getValueAsLong(row);
    }

    /// Appends a row to `batch`, its start moved by `shiftNanos`.
    void copy(int row, EventBatch batch, long shiftNanos) {
        batch.addRow();
        longs.forEach((column, vector) -> {
            if (!vector.isNull(row)) {
                batch.put(column, vector.getValueAsLong(row));
            }
        });
        batch.put(LongColumn.TS_NS, tsNanos(row) + shiftNanos);
        texts.forEach((column, vector) -> batch.put(column, text(vector, row)));
    }

    private @Nullable String text(FieldVector vector, int row) {
        if (vector.isNull(row)) {
            return null;
        }
        if (vector instanceof VarCharVector strings) {
            return new String(strings.get(row), StandardCharsets.UTF_8);
        }
        DictionaryEncoding encoding = vector.getField().getDictionary();
        return encoding != null && vector instanceof BaseIntVector ids
                ? word(encoding.getId(), (int) ids.getValueAsLong(row))
                : null;
    }

    private @Nullable String word(long dictionaryId, int id) {
        if (id >= words.size()) {
            learn(dictionaries.lookup(dictionaryId));
        }
        return id < words.size() ? words.get(id) : null;
    }

    private void learn(@Nullable Dictionary dictionary) {
        if (dictionary != null && dictionary.getVector() instanceof VarCharVector strings) {
            for (int id = words.size(); id < strings.getValueCount(); id++) {
                words.add(new String(strings.get(id), StandardCharsets.UTF_8));
            }
        }
    }
}
