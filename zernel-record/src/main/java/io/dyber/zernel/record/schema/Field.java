package io.dyber.zernel.record.schema;

/// One member of an event struct.
///
/// @param name the column it fills
/// @param offset bytes from the start of the record
/// @param size bytes; for a text the most it can hold
public record Field(String name, FieldType type, int offset, int size, String comment) {
    public Column column() {
        return new Column(name, type.columnType(), type.unit(), comment);
    }
}
