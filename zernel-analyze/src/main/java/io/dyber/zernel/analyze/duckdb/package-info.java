/// DuckDB: the connection, results as tables, and the views that a statement needs, created when it asks.
@NullMarked
package io.dyber.zernel.analyze.duckdb;

import org.jspecify.annotations.NullMarked;
