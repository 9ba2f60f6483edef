/// The pump from the rings to the file, and the rows that the recorder makes itself: of GPUs, the host and marks.
@NullMarked
package io.dyber.zernel.record.rows;

import org.jspecify.annotations.NullMarked;
