@NullMarked
package io.dyber.zernel.serve.watch;

import org.jspecify.annotations.NullMarked;
