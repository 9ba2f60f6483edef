package io.dyber.zernel.record.parquet;

import java.util.List;
import java.util.Optional;
import org.apache.parquet.column.page.DictionaryPage;

/// One column of one row group, encoded.
record ColumnChunk(Optional<DictionaryPage> dictionary, List<Page> pages) {}
