/// The list of metrics, and what is made from it alone.
@NullMarked
package io.dyber.zernel.serve.metric;

import org.jspecify.annotations.NullMarked;
