/// The command `zernel-analyze`. Only here is anything printed, and only here does the process end.
@NullMarked
package io.dyber.zernel.analyze.cli;

import org.jspecify.annotations.NullMarked;
