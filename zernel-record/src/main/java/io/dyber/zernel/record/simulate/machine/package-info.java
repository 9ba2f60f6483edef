/// What a made-up job runs on: a clock, threads, GPUs.
@NullMarked
package io.dyber.zernel.record.simulate.machine;

import org.jspecify.annotations.NullMarked;
