/// Digests of many machines, as they arrive: a window of them, and what the analyzer says of it.
@NullMarked
package io.dyber.zernel.serve.fleet;

import org.jspecify.annotations.NullMarked;
