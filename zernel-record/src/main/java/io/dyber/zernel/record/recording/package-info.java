/// The files of a recording: claimed, written, published, recovered.
@NullMarked
package io.dyber.zernel.record.recording;

import org.jspecify.annotations.NullMarked;
