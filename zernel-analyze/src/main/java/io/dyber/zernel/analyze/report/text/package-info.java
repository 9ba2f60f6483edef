/// Parts of the report as text.
@NullMarked
package io.dyber.zernel.analyze.report.text;

import org.jspecify.annotations.NullMarked;
