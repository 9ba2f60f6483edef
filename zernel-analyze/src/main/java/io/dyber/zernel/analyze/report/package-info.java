@NullMarked
package io.dyber.zernel.analyze.report;

import org.jspecify.annotations.NullMarked;
