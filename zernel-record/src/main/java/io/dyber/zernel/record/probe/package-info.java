@NullMarked
package io.dyber.zernel.record.probe;

import org.jspecify.annotations.NullMarked;
