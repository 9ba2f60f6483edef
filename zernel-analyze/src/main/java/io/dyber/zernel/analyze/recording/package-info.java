/// Recordings as they are found on disk, as one view `events`: finished, unfinished, damaged, in series.
@NullMarked
package io.dyber.zernel.analyze.recording;

import org.jspecify.annotations.NullMarked;
