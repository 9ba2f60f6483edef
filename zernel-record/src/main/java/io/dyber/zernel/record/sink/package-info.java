@NullMarked
package io.dyber.zernel.record.sink;

import org.jspecify.annotations.NullMarked;
