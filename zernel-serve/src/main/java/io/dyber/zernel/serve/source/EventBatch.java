package io.dyber.zernel.serve.source;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A stretch of events, column-wise, in the order of their start once a source hands it out.
///
/// A row starts with every column NULL. Filled by one thread, then only read.
@SuppressWarnings("EnumOrdinal") // the ordinals index arrays that live no longer than the enums
public final class EventBatch {
    /// What [#number] gives for a NULL.
    public static final long NULL = Long.MIN_VALUE;

    private static final LongColumn[] LONGS = LongColumn.values();
    private static final TextColumn[] TEXTS = TextColumn.values();

    private final long[][] longs;
    private final @Nullable String[][] texts;
    private final boolean startsOver;
    private final boolean endsRecording;
    private final long untilNanos;
    private long shiftNanos;
    /// Where the first row lies in the columns.
    private final int offset;
    private int rows;

    public EventBatch(int capacity) {
        this(new long[LONGS.length][capacity], new @Nullable String[TEXTS.length][capacity], 0, 0);
    }

    private EventBatch(long[][] longs, @Nullable String[][] texts, int offset, int rows) {
        this.longs = longs;
        this.texts = texts;
        this.startsOver = false;
        this.endsRecording = false;
        this.untilNanos = NULL;
        this.offset = offset;
        this.rows = rows;
    }

    /// A batch without rows.
    private EventBatch(boolean startsOver, boolean endsRecording, long untilNanos) {
        this.longs = new long[0][];
        this.texts = new @Nullable String[0][];
        this.startsOver = startsOver;
        this.endsRecording = endsRecording;
        this.untilNanos = untilNanos;
        this.offset = 0;
    }

    /// A batch without rows that says: what comes next is the recording from its start, so forget what was.
    public static EventBatch startOver() {
        return new EventBatch(true, false, NULL);
    }

    /// A batch without rows that says: up to this event time there are no more.
    public static EventBatch silentUntil(long nanos) {
        return new EventBatch(false, false, nanos);
    }

    /// A batch without rows that says: what comes next is of another recording.
    public static EventBatch endOfRecording() {
        return new EventBatch(false, true, NULL);
    }

    /// The rows from `from` up to `to`, for reading only: they stay where they are.
    EventBatch part(int from, int to) {
        EventBatch part = new EventBatch(longs, texts, offset + from, to - from);
        part.shiftNanos = shiftNanos;
        return part;
    }

    /// Whether everything handed out before is void.
    public boolean startsOver() {
        return startsOver;
    }

    /// Whether the recording has ended that everything before is of.
    public boolean endsRecording() {
        return endsRecording;
    }

    /// The event time up to which nothing happens, or [#NULL].
    public long untilNanos() {
        return untilNanos;
    }

    public int rows() {
        return rows;
    }

    /// Starts a row; the `put` calls that follow fill it. Grows when needed.
    public EventBatch addRow() {
        if (rows == longs[0].length) {
            grow();
        }
        for (long[] column : longs) {
            column[rows] = NULL;
        }
        rows++;
        return this;
    }

    /// Adds rows that are filled by column.
    void addRows(int more) {
        while (rows + more > longs[0].length) {
            grow();
        }
        for (long[] column : longs) {
            Arrays.fill(column, rows, rows + more, NULL);
        }
        rows += more;
    }

    /// The cells of all rows, to be filled.
    long[] column(LongColumn column) {
        return longs[column.ordinal()];
    }

    /// The cells of all rows, to be filled.
    @Nullable String[] column(TextColumn column) {
        return texts[column.ordinal()];
    }

    /// How far the rows were moved on in time, because the recording is played again.
    public long shiftNanos() {
        return shiftNanos;
    }

    /// Moves all rows on in time.
    void shift(long nanos) {
        shiftNanos += nanos;
        long[] starts = longs[LongColumn.TS_NS.ordinal()];
        for (int row = 0; row < rows && nanos != 0; row++) {
            starts[row] += nanos;
        }
    }

    /// Sets a column of the current row.
    public EventBatch put(LongColumn column, long value) {
        longs[column.ordinal()][rows - 1] = value;
        return this;
    }

    /// Sets a column of the current row.
    public EventBatch put(TextColumn column, @Nullable String value) {
        texts[column.ordinal()][rows - 1] = value;
        return this;
    }

    /// The cell's value, or [#NULL].
    public long number(LongColumn column, int row) {
        return longs[column.ordinal()][offset + row];
    }

    /// The cell's value, or `orElse` for a NULL.
    public long number(LongColumn column, int row, long orElse) {
        long value = longs[column.ordinal()][offset + row];
        return value == NULL ? orElse : value;
    }

    public @Nullable String text(TextColumn column, int row) {
        return texts[column.ordinal()][offset + row];
    }

    /// This batch with its rows ordered by `ts_ns`; this very object where they are already.
    EventBatch inTimeOrder() {
        long[] starts = longs[LongColumn.TS_NS.ordinal()];
        if (isSorted(starts)) {
            return this;
        }
        int[] order = IntStream.range(0, rows)
                .boxed()
                .sorted(Comparator.comparingLong(row -> starts[row]))
                .mapToInt(Integer::intValue)
                .toArray();
        EventBatch sorted = new EventBatch(rows);
        sorted.rows = rows;
        for (int column = 0; column < longs.length; column++) {
            for (int row = 0; row < rows; row++) {
                sorted.longs[column][row] = longs[column][order[row]];
            }
        }
        for (int column = 0; column < texts.length; column++) {
            for (int row = 0; row < rows; row++) {
                sorted.texts[column][row] = texts[column][order[row]];
            }
        }
        return sorted;
    }

    private boolean isSorted(long[] starts) {
        for (int row = 1; row < rows; row++) {
            if (starts[row - 1] > starts[row]) {
                return false;
            }
        }
        return true;
    }

    private void grow() {
        int capacity = Math.max(16, rows * 2);
        for (int column = 0; column < longs.length; column++) {
            longs[column] = Arrays.copyOf(longs[column], capacity);
        }
        for (int column = 0; column < texts.length; column++) {
            texts[column] = Arrays.copyOf(texts[column], capacity);
        }
    }
}
