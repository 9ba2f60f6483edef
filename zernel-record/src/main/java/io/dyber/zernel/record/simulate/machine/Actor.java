package io.dyber.zernel.record.simulate.machine;

/// A simulated thread.
public record Actor(long pid, long tid, String comm, int cpu) {}
