/// The language of `--probe`, and how what it names is found in a file.
@NullMarked
package io.dyber.zernel.record.probe;

import org.jspecify.annotations.NullMarked;
