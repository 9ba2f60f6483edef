/// What the distribution holds besides the programs: manual pages and completions, written from the commands themselves.
@NullMarked
package io.dyber.zernel.dist;

import org.jspecify.annotations.NullMarked;
