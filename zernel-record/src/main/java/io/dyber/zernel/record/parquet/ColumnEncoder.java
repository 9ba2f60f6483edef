package io.dyber.zernel.record.parquet;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.event.Utf8;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/// Encodes columns of a row group into Parquet v1 pages, one column at a time. Not thread-safe.
///
/// v1 because v2 leaves the definition levels uncompressed. A dictionary unless it does not pay: then, from that page
/// on, deltas for numbers and plain bytes for strings.
final class ColumnEncoder implements AutoCloseable {
    private final StringDictionary texts;
    private final ColumnReorderer page = new ColumnReorderer();
    private int rows;
    private final int[] ids = new int[ColumnReorderer.CAPACITY];
    private final ValueDictionary dictionary = new ValueDictionary();
    private final DeltaBinaryPackedEncoder deltas = new DeltaBinaryPackedEncoder();
    private final Bytes levels = new Bytes();
    private final Bytes body = new Bytes();
    private final ZstdCompressCtx zstd = new ZstdCompressCtx().setLevel(1);
    private byte[] compressed = {};

    ColumnEncoder(StringDictionary texts) {
        this.texts = texts;
    }

    /// Prepares for the columns of a row group.
    void open(RowGroup group, RowPermutation order) {
        rows = order.rows();
        page.open(group, order);
    }

    ColumnChunk encode(int number, Column column, PrimitiveType type) {
        if (!page.sort(number)) {
            return new ColumnChunk(Optional.empty(), List.of(emptyPage(type, rows)));
        }
        dictionary.clear();
        PageStatistics statistics = new PageStatistics(type, texts, dictionary);
        List<Page> pages = new ArrayList<>();
        boolean tryDictionary = !ParquetTable.isTime(column);
        for (int p = 0; p * ColumnReorderer.CAPACITY < rows; p++) {
            pick(p);
            if (page.count() == 0) {
                pages.add(emptyPage(type, page.rows()));
                continue;
            }
            if (page.isConstant()) {
                pages.add(constantPage(statistics));
                continue;
            }
            tryDictionary = tryDictionary && number();
            pages.add(tryDictionary ? dictionaryPage(statistics) : fallbackPage(column, statistics));
        }
        return new ColumnChunk(dictionaryOf(column), pages);
    }

    @Override
    public void close() {
        zstd.close();
    }

    /// Numbers the page's values; false, with the dictionary as before, when a dictionary does not pay.
    private boolean number() {
        int before = dictionary.size();
        boolean fits = dictionary.number(page.values(), page.count(), ids);
        boolean pays = before > 0 || page.count() < 1024 || dictionary.size() <= page.count() / 2;
        if (!fits || !pays) {
            dictionary.truncate(before);
            return false;
        }
        return true;
    }

    private Page constantPage(PageStatistics statistics) {
        boolean _ = dictionary.number(page.values(), 1, ids);
        body.putByte(1);
        RleBitPackedEncoder.putRun(0, page.count(), 1, body);
        return finish(statistics.ofIds(page, ids, 1), Encoding.RLE_DICTIONARY);
    }

    private Page dictionaryPage(PageStatistics statistics) {
        int width = RleBitPackedEncoder.width(Math.max(0, dictionary.size() - 1));
        body.putByte(width);
        RleBitPackedEncoder.encode(ids, page.count(), width, body);
        return finish(statistics.ofIds(page, ids, page.count()), Encoding.RLE_DICTIONARY);
    }

    private Page fallbackPage(Column column, PageStatistics statistics) {
        if (column.type() == ColumnType.BIGINT) {
            deltas.encode(page.values(), page.count(), body);
            return finish(statistics.ofNumbers(page), Encoding.DELTA_BINARY_PACKED);
        }
        for (int i = 0; i < page.count(); i++) {
            putText(page.values()[i]);
        }
        return finish(statistics.ofTexts(page), Encoding.PLAIN);
    }

    private Page emptyPage(PrimitiveType type, int rows) {
        body.clear();
        levels.clear();
        levels.putVarint((long) rows << 1);
        levels.putByte(0);
        body.putInt(levels.size());
        body.putAll(Arrays.copyOf(levels.array(), levels.size()));
        Statistics<?> statistics = Statistics.createStats(type);
        statistics.incrementNumNulls(rows);
        return new Page(rows, body.size(), compressed(), statistics, Encoding.PLAIN);
    }

    /// Definition levels come first, preceded by their length.
    private void pick(int number) {
        body.clear();
        body.putInt(0);
        page.pick(number, body);
        body.setInt(0, body.size() - 4);
    }

    private Page finish(Statistics<?> statistics, Encoding encoding) {
        return new Page(page.rows(), body.size(), compressed(), statistics, encoding);
    }

    private Optional<DictionaryPage> dictionaryOf(Column column) {
        if (dictionary.size() == 0) {
            return Optional.empty();
        }
        body.clear();
        for (int id = 0; id < dictionary.size(); id++) {
            if (column.type() == ColumnType.BIGINT) {
                body.putLong(dictionary.value(id));
            } else {
                putText(dictionary.value(id));
            }
        }
        int size = body.size();
        BytesInput bytes = compressed();
        return Optional.of(new DictionaryPage(bytes, size, dictionary.size(), Encoding.PLAIN));
    }

    private void putText(long id) {
        byte[] text = Utf8.of(texts, (int) id);
        body.putInt(text.length);
        body.putAll(text);
    }

    private BytesInput compressed() {
        int bound = (int) Zstd.compressBound(body.size());
        if (compressed.length < bound) {
            compressed = new byte[bound];
        }
        int size = zstd.compressByteArray(compressed, 0, compressed.length, body.array(), 0, body.size());
        return BytesInput.from(Arrays.copyOf(compressed, size));
    }
}
