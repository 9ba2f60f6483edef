/// Reads ELF files: symbols, notes, dependencies.
@NullMarked
package io.dyber.zernel.record.elf;

import org.jspecify.annotations.NullMarked;
