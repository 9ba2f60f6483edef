package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Rows in which every column has its own habit: runs, noise, NULLs in clumps, few and very many distinct values, or
/// values in some kinds only.
/// `ts_ns` is unique, so that a reader can restore the order of arrival.
public final class RandomEvents {
    public static final List<Column> COLUMNS = columns();

    private final SplittableRandom random;
    private final long[] runs = new long[COLUMNS.size()];
    private final int[] left = new int[COLUMNS.size()];

    public RandomEvents(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /// The first `count` rows, in order of arrival.
    public List<List<@Nullable Object>> rows(int count) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            @Nullable Object[] row = new @Nullable Object[COLUMNS.size()];
            row[0] = "kind" + random.nextInt(3);
            row[1] = i * 1000L + random.nextInt(900);
            row[2] = (long) random.nextInt(20);
            row[3] = run(3, 1 << random.nextInt(12)) % 5 == 0 ? null : random.nextLong();
            row[4] = run(4, 70) % 3 == 0 ? null : runs[4] % 7;
            row[5] = random.nextInt(4) == 0 ? "path " + random.nextInt(200_000) : null;
            row[6] = run(6, 40) % 2 == 0 ? "\u00fc" + runs[6] % 100 : null;
            row[8] = random.nextLong() >> random.nextInt(64);
            row[10] = "kind1".equals(row[0]) ? random.nextLong() : null;
            row[11] = "kind2".equals(row[0]) ? "constant" : null;
            row[12] = "kind0".equals(row[0]) ? null : "kind1".equals(row[0]) ? (Long) 77L : (Long) 78L;
            rows.add(Arrays.asList(row));
        }
        return rows;
    }

    static LongFunction<Object[]> source(List<List<@Nullable Object>> rows) {
        return row -> rows.get((int) row).toArray();
    }

    /// A non-negative number that changes after at most `longest` rows.
    private long run(int column, int longest) {
        if (left[column]-- == 0) {
            left[column] = random.nextInt(longest);
            runs[column] = random.nextInt(1 << 20);
        }
        return runs[column];
    }

    private static List<Column> columns() {
        List<Column> columns = new ArrayList<>();
        columns.add(new Column("kind", ColumnType.VARCHAR, "", ""));
        columns.add(new Column("ts_ns", ColumnType.BIGINT, "ns", ""));
        columns.add(new Column("tid", ColumnType.BIGINT, "", ""));
        columns.add(new Column("noise_ns", ColumnType.BIGINT, "ns", ""));
        columns.add(new Column("runs", ColumnType.BIGINT, "", ""));
        columns.add(new Column("paths", ColumnType.VARCHAR, "", ""));
        columns.add(new Column("words", ColumnType.VARCHAR, "", ""));
        columns.add(new Column("never", ColumnType.BIGINT, "", ""));
        columns.add(new Column("numbers", ColumnType.BIGINT, "", ""));
        columns.add(new Column("never_text", ColumnType.VARCHAR, "", ""));
        columns.add(new Column("of_one_kind", ColumnType.BIGINT, "", ""));
        columns.add(new Column("constant_of_one_kind", ColumnType.VARCHAR, "", ""));
        columns.add(new Column("constants_of_two_kinds", ColumnType.BIGINT, "", ""));
        return List.copyOf(columns);
    }
}
