/// What the frames of a stack are called: Python's functions and lines, native functions and libraries.
@NullMarked
package io.dyber.zernel.record.stack;

import org.jspecify.annotations.NullMarked;
