/// What `/proc`, the loader and the environment say of a process.
@NullMarked
package io.dyber.zernel.record.process;

import org.jspecify.annotations.NullMarked;
