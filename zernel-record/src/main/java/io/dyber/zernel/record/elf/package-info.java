@NullMarked
package io.dyber.zernel.record.elf;

import org.jspecify.annotations.NullMarked;
