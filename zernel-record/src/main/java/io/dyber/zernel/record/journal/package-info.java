/// The journal of a recording, from which it is recovered.
@NullMarked
package io.dyber.zernel.record.journal;

import org.jspecify.annotations.NullMarked;
