@NullMarked
package io.dyber.zernel.serve;

import org.jspecify.annotations.NullMarked;
