/// Python's frames and code objects in the memory of another process: where each version of CPython keeps them, and what
/// they say.
@NullMarked
package io.dyber.zernel.record.python;

import org.jspecify.annotations.NullMarked;
