/// What is known of the recorded job from all its calls together: which memory is held, which kernel a handle means,
/// which rank a communicator is.
@NullMarked
package io.dyber.zernel.record.job;

import org.jspecify.annotations.NullMarked;
