/// What the SQL library says of a recording while it grows: steps, phases, findings.
@NullMarked
package io.dyber.zernel.serve.analysis;

import org.jspecify.annotations.NullMarked;
