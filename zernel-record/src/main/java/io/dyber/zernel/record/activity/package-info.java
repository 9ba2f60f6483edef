/// What ran on GPUs, from a library of ours in the job that asks CUPTI.
@NullMarked
package io.dyber.zernel.record.activity;

import org.jspecify.annotations.NullMarked;
