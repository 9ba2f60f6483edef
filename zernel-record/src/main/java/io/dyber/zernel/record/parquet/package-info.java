/// Rows to Parquet pages. Knows events and nothing of folders.
@NullMarked
package io.dyber.zernel.record.parquet;

import org.jspecify.annotations.NullMarked;
