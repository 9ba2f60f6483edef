@NullMarked
package io.dyber.zernel.record.cli;

import org.jspecify.annotations.NullMarked;
