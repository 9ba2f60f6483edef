/// Marks: how a moment that a user names finds its way into the recordings that are running.
@NullMarked
package io.dyber.zernel.record.mark;

import org.jspecify.annotations.NullMarked;
