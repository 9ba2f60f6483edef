package io.dyber.zernel.record.parquet;

import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;

/// One finished data page: definition levels and values, compressed together.
///
/// @param rawSize bytes before compression
record Page(int rows, int rawSize, BytesInput zstd, Statistics<?> statistics, Encoding encoding) {}
