package io.dyber.zernel.record.bpf;

/// Lets a stopped process run again, within microseconds: no program is started for it.
public final class Continuing {
    private static final int SIGCONT = 18;

    private Continuing() {}

    /// Sends SIGCONT; false when there is no such process any more.
    public static boolean of(int pid) {
        return Libc.kill(pid, SIGCONT);
    }
}
