package io.dyber.zernel.record.event;

/// The row that is being decoded, for those who know more about it than its record says.
///
/// Valid only during the call that hands it out. Columns are those of [Schema#index]; texts are ids of the recording's
/// [StringDictionary].
public final class Row {
    /// What [#get] gives for a NULL.
    public static final long NONE = Long.MIN_VALUE;

    private final Rows rows;

    Row(Rows rows) {
        this.rows = rows;
    }

    /// The value of a column, [#NONE] for NULL.
    public long get(int column) {
        return rows.get(column);
    }

    public void put(int column, long value) {
        rows.put(column, value);
    }

    /// Makes a column NULL.
    public void clear(int column) {
        rows.clear(column);
    }

    /// Says that nobody wants the row.
    public void leaveOut() {
        rows.leaveOut();
    }

    /// The process; 0 for a row of no process.
    public int pid() {
        return (int) Math.max(0, rows.get(rows.pid));
    }

    /// The thread; 0 for a row of no thread.
    public int tid() {
        return (int) Math.max(0, rows.get(rows.tid));
    }
}
