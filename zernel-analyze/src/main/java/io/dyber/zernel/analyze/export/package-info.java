/// Recordings in the formats of other tools. Everything streams: memory does not grow with the recording.
@NullMarked
package io.dyber.zernel.analyze.export;

import org.jspecify.annotations.NullMarked;
