/// The columns and kinds of a recording, read from the BTF of the BPF objects.
@NullMarked
package io.dyber.zernel.record.schema;

import org.jspecify.annotations.NullMarked;
