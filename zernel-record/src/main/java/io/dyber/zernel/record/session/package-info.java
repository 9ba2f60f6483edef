/// One recording: who is recorded, how long, into which files, and what its footer says.
@NullMarked
package io.dyber.zernel.record.session;

import org.jspecify.annotations.NullMarked;
