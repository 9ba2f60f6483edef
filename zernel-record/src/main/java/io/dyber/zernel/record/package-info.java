@NullMarked
package io.dyber.zernel.record;

import org.jspecify.annotations.NullMarked;
