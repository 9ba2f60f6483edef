/// The recorder seen from outside: real programs, recorded by the command line in a process of its own, against what
/// the programs themselves counted and timed.
@NullMarked
package io.dyber.zernel.record.live;

import org.jspecify.annotations.NullMarked;
