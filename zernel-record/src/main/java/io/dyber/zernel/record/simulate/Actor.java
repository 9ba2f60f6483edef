package io.dyber.zernel.record.simulate;

/// A simulated thread.
record Actor(long pid, long tid, String comm, int cpu) {}
