@NullMarked
package io.dyber.zernel.analyze.cli;

import org.jspecify.annotations.NullMarked;
