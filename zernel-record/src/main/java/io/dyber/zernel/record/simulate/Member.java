package io.dyber.zernel.record.simulate;

/// A rank of a job, and what is wrong with it.
///
/// @param local its number on its machine
/// @param lengthSpread how much its kernels' time differs from step to step, because its sequences differ in length
record Member(int rank, int local, JobParameters shape, InjectedCauses plant, double lengthSpread) {}
