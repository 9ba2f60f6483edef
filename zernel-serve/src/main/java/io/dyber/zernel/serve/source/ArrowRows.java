package io.dyber.zernel.serve.source;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.jspecify.annotations.Nullable;

/// Reads Arrow batches, as DuckDB exports them (plain strings) and as the journal holds them (strings of one shared
/// dictionary that only grows), into an [EventBatch], column by column.
final class ArrowRows {
    private final VectorSchemaRoot root;
    private final DictionaryProvider dictionaries;
    private final Map<LongColumn, BaseIntVector> longs = new EnumMap<>(LongColumn.class);
    private final Map<TextColumn, FieldVector> texts = new EnumMap<>(TextColumn.class);
    private final List<String> dictionary = new ArrayList<>();
    private final StringCache words;

    /// @param words what is known of plain strings
    ArrowRows(VectorSchemaRoot root, DictionaryProvider dictionaries, StringCache words) {
        this.root = root;
        this.dictionaries = dictionaries;
        this.words = words;
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

    /// How many rows the batch has that is loaded now.
    int rows() {
        return root.getRowCount();
    }

    /// These rows, in their order.
    EventBatch read() {
        int rows = rows();
        EventBatch batch = new EventBatch(rows);
        batch.addRows(rows);
        longs.forEach((column, vector) -> {
            if (vector.getNullCount() < rows) {
                read(vector, rows, batch.column(column));
            }
        });
        texts.forEach((column, vector) -> {
            if (vector.getNullCount() < rows) {
                read(vector, rows, batch.column(column));
            }
        });
        return batch;
    }

    private static void read(BaseIntVector vector, int rows, long[] to) {
        if (vector instanceof BigIntVector numbers) { // all that the recorder writes
            for (int row = 0; row < rows; row++) {
                if (!numbers.isNull(row)) {
                    to[row] = numbers.get(row);
                }
            }
            return;
        }
        for (int row = 0; row < rows; row++) {
            if (!vector.isNull(row)) {
                to[row] = vector.getValueAsLong(row);
            }
        }
    }

    private void read(FieldVector vector, int rows, @Nullable String[] to) {
        DictionaryEncoding encoding = vector.getField().getDictionary();
        for (int row = 0; row < rows; row++) {
            if (vector.isNull(row)) {
                continue;
            }
            if (vector instanceof VarCharVector strings) {
                to[row] = words.at(strings.getDataBuffer(), strings.getStartOffset(row), strings.getEndOffset(row));
            } else if (encoding != null && vector instanceof BaseIntVector ids) {
                to[row] = word(encoding.getId(), (int) ids.getValueAsLong(row));
            }
        }
    }

    private @Nullable String word(long dictionaryId, int id) {
        if (id >= dictionary.size()) {
            learn(dictionaries.lookup(dictionaryId));
        }
        return id < dictionary.size() ? dictionary.get(id) : null;
    }

    private void learn(@Nullable Dictionary all) {
        if (all != null && all.getVector() instanceof VarCharVector strings) {
            for (int id = dictionary.size(); id < strings.getValueCount(); id++) {
                dictionary.add(new String(strings.get(id), StandardCharsets.UTF_8));
            }
        }
    }
}
