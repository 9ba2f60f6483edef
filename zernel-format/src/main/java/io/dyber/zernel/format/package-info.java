/// What the recorder, the analyzer and the server agree on. It knows none of them, no kernel and no database.
@NullMarked
package io.dyber.zernel.format;

import org.jspecify.annotations.NullMarked;
