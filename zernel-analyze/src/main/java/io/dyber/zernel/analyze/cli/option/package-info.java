/// Options that several commands have, and what they do for them: the input, the terminal, progress.
@NullMarked
package io.dyber.zernel.analyze.cli.option;

import org.jspecify.annotations.NullMarked;
