package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.ColumnType;
import java.util.List;

/// The events of one row group on their way to Parquet, in order of arrival. Filled by one thread, then handed to the
/// encoder, then cleared and reused.
final class RowGroup {
    private final List<Column> columns;
    private final ColumnValues[] values;
    private int rows;

    RowGroup(List<Column> columns) {
        this.columns = columns;
        this.values = new ColumnValues[columns.size()];
        for (int c = 0; c < values.length; c++) {
            values[c] = new ColumnValues(columns.get(c).type() == ColumnType.VARCHAR);
        }
    }

    List<Column> columns() {
        return columns;
    }

    int rows() {
        return rows;
    }

    ColumnValues values(int column) {
        return values[column];
    }

    void append(Batch batch) {
        for (int c = 0; c < values.length; c++) {
            values[c].append(batch, c, rows);
        }
        rows += batch.rows();
    }

    void clear() {
        for (ColumnValues column : values) {
            column.clear();
        }
        rows = 0;
    }

    /// The position of a column, or -1.
    int column(String name) {
        for (int c = 0; c < values.length; c++) {
            if (columns.get(c).name().equals(name)) {
                return c;
            }
        }
        return -1;
    }
}
