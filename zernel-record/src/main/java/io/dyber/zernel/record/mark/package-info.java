/// Marks: how a moment that somebody names finds its way into the recordings that are running.
@NullMarked
package io.dyber.zernel.record.mark;

import org.jspecify.annotations.NullMarked;
