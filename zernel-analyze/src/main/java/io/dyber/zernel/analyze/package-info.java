@NullMarked
package io.dyber.zernel.analyze;

import org.jspecify.annotations.NullMarked;
