/// What was asked of the recorder, and how it says what it does.
@NullMarked
package io.dyber.zernel.record.option;

import org.jspecify.annotations.NullMarked;
