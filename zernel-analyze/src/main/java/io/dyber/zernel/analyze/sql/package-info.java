/// The SQL files that are shipped or given: views and findings, what each reads, its thresholds.
@NullMarked
package io.dyber.zernel.analyze.sql;

import org.jspecify.annotations.NullMarked;
