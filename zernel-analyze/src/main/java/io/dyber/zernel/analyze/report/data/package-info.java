/// What a report says: the answers it asked for, and words for them.
@NullMarked
package io.dyber.zernel.analyze.report.data;

import org.jspecify.annotations.NullMarked;
