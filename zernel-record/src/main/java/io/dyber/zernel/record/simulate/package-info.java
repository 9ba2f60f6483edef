@NullMarked
package io.dyber.zernel.record.simulate;

import org.jspecify.annotations.NullMarked;
