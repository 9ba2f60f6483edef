/// Where a function of x86-64 may be probed: its instructions, exits and stack.
@NullMarked
package io.dyber.zernel.record.elf.x86;

import org.jspecify.annotations.NullMarked;
