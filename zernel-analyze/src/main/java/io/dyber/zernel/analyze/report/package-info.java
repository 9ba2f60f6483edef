/// Turns what the SQL found into text and JSON. Only here do nanoseconds and bytes become human.
@NullMarked
package io.dyber.zernel.analyze.report;

import org.jspecify.annotations.NullMarked;
