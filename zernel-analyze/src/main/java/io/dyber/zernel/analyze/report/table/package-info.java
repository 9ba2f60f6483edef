/// Tables, pages and numbers as text, in each form.
@NullMarked
package io.dyber.zernel.analyze.report.table;

import org.jspecify.annotations.NullMarked;
