@NullMarked
package io.dyber.zernel.record.event;

import org.jspecify.annotations.NullMarked;
