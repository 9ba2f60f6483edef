package io.dyber.zernel.record.schema;

/// What a column of the event table holds. There are only these two, in the file, in SQL and in memory.
public enum ColumnType {
    /// A signed 64-bit number.
    BIGINT,
    /// A string; in memory and in the journal an id of one shared dictionary.
    VARCHAR
}
