@NullMarked
package io.dyber.zernel.serve.cli;

import org.jspecify.annotations.NullMarked;
