/// Rules over metrics, what they say at each moment, and whom they tell.
@NullMarked
package io.dyber.zernel.serve.alert;

import org.jspecify.annotations.NullMarked;
