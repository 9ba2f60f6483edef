@NullMarked
package io.dyber.zernel.serve.source;

import org.jspecify.annotations.NullMarked;
