package io.dyber.zernel.record.job;

/// A handle or address, which means something in one process only.
record Handle(int pid, long value) {}
