package io.dyber.zernel.record.parquet;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.event.Utf8;
import java.util.Arrays;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.PrimitiveType;

/// Smallest and largest value and number of NULLs of each page of a column, by which readers skip pages.
final class PageStatistics {
    private final PrimitiveType type;
    private final StringDictionary texts;
    private final ValueDictionary dictionary;
    private int[] seenInPage = {};
    private int pageNumber;

    PageStatistics(PrimitiveType type, StringDictionary texts, ValueDictionary dictionary) {
        this.type = type;
        this.texts = texts;
        this.dictionary = dictionary;
    }

    Statistics<?> ofNumbers(ColumnReorderer page) {
        long[] values = page.values();
        long min = Long.MAX_VALUE;
        long max = Long.MIN_VALUE;
        for (int i = 0; i < page.count(); i++) {
            min = Math.min(min, values[i]);
            max = Math.max(max, values[i]);
        }
        return ofRange(page, min, max);
    }

    /// For a page that is not all NULL.
    private Statistics<?> ofRange(ColumnReorderer page, long min, long max) {
        Statistics<?> statistics = withNulls(page);
        statistics.updateStats(min);
        statistics.updateStats(max);
        return statistics;
    }

    /// For a dictionary page, where strings need comparing only once a page.
    ///
    /// @param count how many ids stand for the page's values
    Statistics<?> ofIds(ColumnReorderer page, int[] ids, int count) {
        if (type.getPrimitiveTypeName() == PrimitiveTypeName.INT64) {
            return ofRange(page, dictionary.min(), dictionary.max());
        }
        if (seenInPage.length < dictionary.size()) {
            seenInPage = Arrays.copyOf(seenInPage, dictionary.size() * 2);
        }
        pageNumber++;
        TextRange range = new TextRange();
        for (int i = 0; i < count; i++) {
            int id = ids[i];
            if (seenInPage[id] != pageNumber) {
                seenInPage[id] = pageNumber;
                range.add(Utf8.of(texts, (int) dictionary.value(id)));
            }
        }
        return range.statistics(page);
    }

    Statistics<?> ofTexts(ColumnReorderer page) {
        TextRange range = new TextRange();
        for (int i = 0; i < page.count(); i++) {
            range.add(Utf8.of(texts, (int) page.values()[i]));
        }
        return range.statistics(page);
    }

    private Statistics<?> withNulls(ColumnReorderer page) {
        Statistics<?> statistics = Statistics.createStats(type);
        statistics.incrementNumNulls(page.rows() - page.count());
        return statistics;
    }

    private final class TextRange {
        private byte[] min = {};
        private byte[] max = {};
        private boolean empty = true;

        void add(byte[] text) {
            min = empty || Arrays.compareUnsigned(text, min) < 0 ? text : min;
            max = empty || Arrays.compareUnsigned(text, max) > 0 ? text : max;
            empty = false;
        }

        Statistics<?> statistics(ColumnReorderer page) {
            Statistics<?> statistics = withNulls(page);
            if (!empty) {
                statistics.updateStats(Binary.fromConstantByteArray(min));
                statistics.updateStats(Binary.fromConstantByteArray(max));
            }
            return statistics;
        }
    }
}
