package io.dyber.zernel.record.schema;

/// One column of the wide event table.
///
/// @param name snake_case; means the same thing, type and unit in every kind
/// @param unit `ns`, `bytes` or empty
/// @param comment one line for the person who reads the file
public record Column(String name, ColumnType type, String unit, String comment) {}
