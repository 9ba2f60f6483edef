/// Which functions are probed where, the BPF programs that do it, and what they count.
@NullMarked
package io.dyber.zernel.record.attach;

import org.jspecify.annotations.NullMarked;
