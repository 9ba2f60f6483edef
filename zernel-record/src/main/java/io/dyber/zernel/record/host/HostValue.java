package io.dyber.zernel.record.host;

/// One value of the machine, of one of its parts or of a process.
///
/// @param nanos when, on the clock given to the sampler
/// @param pid of the process, or [#HOST] for the machine and its parts
/// @param comm name of the process, empty for the machine
/// @param object the cgroup or link, empty for the machine as a whole and for most values of processes
/// @param unit empty for a plain number
public record HostValue(long nanos, int pid, String comm, String object, String name, long value, String unit) {
    static final int HOST = 0;

    static final String BYTES = "bytes";
    static final String NANOS = "ns";
    static final String COUNT = "";

    /// Whether this is a process's.
    public boolean ofProcess() {
        return pid != HOST;
    }
}
