/// The values of metrics while events come in.
@NullMarked
package io.dyber.zernel.serve.live;

import org.jspecify.annotations.NullMarked;
