@NullMarked
package org.apache.arrow.memory.unsafe;

import org.jspecify.annotations.NullMarked;
