/// The probes that are built in, by kind.
@NullMarked
package io.dyber.zernel.record.builtin;

import org.jspecify.annotations.NullMarked;
