/// Records of the rings decoded and calls joined, column by column.
@NullMarked
package io.dyber.zernel.record.event;

import org.jspecify.annotations.NullMarked;
