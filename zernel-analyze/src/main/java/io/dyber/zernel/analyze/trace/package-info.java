/// Traces of the PyTorch profiler beside a recording: read, and brought to its clock.
@NullMarked
package io.dyber.zernel.analyze.trace;

import org.jspecify.annotations.NullMarked;
